import FerryCore
import Synchronization

/// What a server names for its file: mirrors, and a Metalink document that describes it (RFC 6249).
extension DownloadDriver {
    /// Adds mirrors as if they had been given with the request, except those that no server may name.
    func addMirrors(_ links: [DownloadURL], _ state: inout State) {
        let most = DownloadRequest.mostSources - state.links.urls.count
        let mirrors = LinkField.usable(
            links, besides: state.links.urls, allowsDowngrade: request.trust.allowsDowngrade
        ).prefix(max(0, most))
        guard !mirrors.isEmpty else { return }
        state.links.urls += mirrors
        state.links.namedCount += mirrors.count
        state.machine.add(mirrors: mirrors.map(\.redacted))
    }

    /// Reads the document that the response of a beginning names, while the file is fetched.
    func followDescription(in response: TransferResponse, _ state: inout State) {
        state.tasks.description?.cancel()
        state.tasks.description = nil
        // Of a stream, bytes have been written before.
        if case .stream = request.destination { return }
        let document = LinkField.usable(
            response.links.descriptions, besides: state.links.urls, allowsDowngrade: request.trust.allowsDowngrade
        ).first
        guard let document else { return }
        let file = [response.url] + state.links.urls
        // owner: state.tasks, awaited in drain.
        state.tasks.description = Task(executorPreference: loop) {
            guard let entry = await self.description(of: file, in: document) else { return }
            let isUsed = self.state.withLock { state in
                // It was cancelled when the file was replaced by another.
                !Task.isCancelled && self.use(entry, &state)
            }
            guard isUsed else { return }
            self.report(.event(.note(Reason(.describedBy, document.redacted))))
            self.updates.notify()
        }
    }

    /// Returns the entry of one of these URLs; `nil` if the document cannot be used.
    private func description(of file: [DownloadURL], in document: DownloadURL) async -> URLList.Entry? {
        let request = TransferRequest(of: request, from: document, headLimit: settings.stallTimeout)
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(request)
            guard response.head.status == 200 else { return nil }
            let bytes = try await collect(response.body, most: LinkField.mostDescriptionBytes)
            return (try? Metalink(parsing: bytes))?.entry(of: file)
        } catch { return nil }
    }

    /// Returns false for the entry of another file.
    private func use(_ entry: URLList.Entry, _ state: inout State) -> Bool {
        guard let total = state.machine.planner.total, entry.size ?? total == total else { return false }
        addMirrors(entry.urls, &state)
        state.digest.described(by: entry, total: total)
        return true
    }
}

/// Checksum lists.
extension DownloadDriver {
    /// Looks up the checksum in the request's checksum list, under the first of `names` that the list contains.
    func lookUpChecksum(for names: @autoclosure () -> [String]) async throws(DownloadError) {
        let listing = ChecksumListing(request, environment, settings)
        let digest = state.withLock { $0.digest }
        guard let found = try await listing.find(names(), unless: digest) else { return }
        state.withLock { state in
            state.digest.listed(found)
            state.machine.receivedElsewhere(found.receivedBytes)
        }
    }
}
