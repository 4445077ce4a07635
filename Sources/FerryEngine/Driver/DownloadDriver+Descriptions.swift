import FerryCore

/// Resources that a server links to a file: mirrors, and a Metalink document that describes it (RFC 6249).
extension DownloadDriver {
    /// Reads the document that the first response of a new representation names, while the file is fetched.
    func followDescription(in response: TransferResponse, of beginning: Int) {
        tasks.set(description: nil)
        // A stream may already contain bytes by then.
        if case .stream = request.destination { return }
        let sources = transfer.sources
        let document = LinkField.usable(
            response.links.descriptions, besides: sources, allowsDowngrade: request.trust.allowsDowngrade
        ).first
        guard let document else { return }
        let file = [response.url] + sources
        // owner: tasks, awaited in drain.
        let task = Task(executorPreference: loop) {
            guard let entry = await self.description(of: file, in: document), !Task.isCancelled,
                self.transfer.described(by: entry, since: beginning)
            else { return }
            self.report(.event(.note(Reason(.describedBy, document.redacted))))
            self.updates.notify()
        }
        tasks.set(description: task)
    }

    /// Returns the entry of one of these URLs; `nil` if the document cannot be used.
    private func description(of file: [DownloadURL], in document: DownloadURL) async -> URLList.Entry? {
        let request = TransferRequest(of: request, from: document, headLimit: settings.stallTimeout)
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(request)
            guard response.head.status == 200 else { return nil }
            let bytes = try await collect(ShortBody(response.body), most: LinkField.mostDescriptionBytes).bytes
            return (try? Metalink(parsing: bytes))?.entry(of: file)
        } catch { return nil }
    }
}

/// Checksum lists.
extension DownloadDriver {
    /// Looks up the checksum in the request's checksum list, under the first of `names` that the list contains.
    func lookUpChecksum(for names: @autoclosure () -> [String]) async throws(DownloadError) {
        let listing = ChecksumListing(request, environment, settings)
        guard let found = try await listing.find(names(), unless: transfer.digest) else { return }
        transfer.listed(found)
    }
}
