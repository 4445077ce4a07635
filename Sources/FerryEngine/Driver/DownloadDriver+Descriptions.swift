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
        if state.digest.offered == nil { state.digest.offered = entry.checksum }
        if let pieces = entry.pieces, pieces.cover(total) { state.digest.describedPieces = pieces }
        return true
    }
}

/// Checksum lists.
extension DownloadDriver {
    /// Looks up the checksum in the request's checksum list, under the first of `names` that the list contains.
    func lookUpChecksum(for names: @autoclosure () -> [String]) async throws(DownloadError) {
        guard let list = request.checksumList, state.withLock({ $0.digest.requested }) == nil else { return }
        try await fetchChecksum(from: list, for: names())
    }

    /// A separate function: its frame is large, and most downloads have no list.
    @inline(never)
    private func fetchChecksum(from list: DownloadURL, for names: [String]) async throws(DownloadError) {
        let request = TransferRequest(of: self.request, from: list, headLimit: settings.stallTimeout)
        let status: Int
        let bytes: [UInt8]
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(request)
            status = response.head.status
            if status == 200 {
                bytes = try await collect(response.body, most: 4 << 20)
            } else {
                bytes = []
            }
        } catch { throw DownloadError(error) }
        guard status == 200 else {
            throw DownloadError(.refused, ErrorPhrase(.unusableList, "\(list)", "\(status)"))
        }
        let digests = ChecksumList(String(decoding: bytes, as: UTF8.self))
        guard let checksum = names.lazy.compactMap({ digests.checksum(for: $0) }).first else {
            throw DownloadError(.checksum, ErrorPhrase(.notInChecksumList, "\(list)", names.first ?? ""))
        }
        state.withLock { ($0.digest.requested, $0.digest.origin) = (checksum, Reason(.checksumOfList, list.redacted)) }
    }
}
