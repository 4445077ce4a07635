import FerryAPI
import FerryCore
import FerryEngine
import Synchronization

/// Adding to the session's list, and reading it.
extension RemoteSession {
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload] {
        // Identifiers are assigned here, so that a repeated call means the same downloads.
        var named = requests
        for index in named.indices where named[index].id == nil { named[index].id = DownloadID.make() }
        for request in named { try checkMayLeave(request) }
        guard !state.withLock({ $0.isDraining }) else { throw Self.wasShutDown }
        if named.isEmpty { return [] }
        callBegan()
        defer { callEnded() }
        let answer = try await ask(.add, NewDownloads(named), as: DownloadItems.self)
        guard answer.items.count == named.count else { throw Self.unreadable("\(answer.items.count) answers") }
        var all: [LiveDownload] = []
        for (said, request) in zip(answer.items, named) { all.append(try await current(said, request)) }
        return all
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        var wasRepeated = false
        callBegan()
        defer { callEnded() }
        do throws(DownloadError) {
            let call = DaemonCall(.addResumeData, json: ResumeDataBody(data.data))
            let said = try await ask(call, as: ListedDownload.self, wasRepeated: &wasRepeated)
            return try await current(said)
        } catch {
            // An earlier attempt of this call has used the data.
            guard wasRepeated, error.code == .notResumable, let live = try await download(data.id) else { throw error }
            return live
        }
    }

    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload {
        callBegan()
        defer { callEnded() }
        return try await current(await ask(.adopt, AdoptBody(path: path), as: ListedDownload.self))
    }

    // MARK: Reading

    func downloads(offset: Int, limit: Int) async throws(DownloadError) -> [LiveDownload] {
        try await list(offset: offset, limit: limit, [])
    }

    func downloads(of url: DownloadURL) async throws(DownloadError) -> [LiveDownload] {
        // The search also matches substrings, names and labels, so filter by equality.
        try await list(offset: 0, limit: .max, [("search", url.with(nil).text)])
            .filter { $0.request.sources.first?.text == url.with(nil).text }
    }

    /// Reads the list; `limit` may be `Int.max`.
    private func list(
        offset: Int, limit: Int, _ filter: [(name: String, value: String)]
    ) async throws(DownloadError) -> [LiveDownload] {
        if limit == 0 { return [] }
        callBegan()
        defer { callEnded() }
        let page = try await ask(.list(filter, offset: offset, limit: limit), as: DownloadPage.self)
        var all: [LiveDownload] = []
        for said in page.items { all.append(try await current(said)) }
        return all.filter { !$0.isClosed }
    }

    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload? {
        if let live = known(id) {
            try await joined()
            return live
        }
        callBegan()
        defer { callEnded() }
        guard let said = try await listed(id) else { return nil }
        let live = try await current(said)
        return live.isClosed ? nil : live
    }

    /// The object of a download in a response, as new as the newest event; closed if the download has left the list.
    private func current(
        _ said: ListedDownload, _ request: DownloadRequest? = nil
    ) async throws(DownloadError) -> LiveDownload {
        let (live, isNew) = try live(for: said, request: request)
        guard isNew, said.session == place.identifier, state.withLock({ $0.passing.isDoubtful(said) }) else {
            return live
        }
        // The answer may be of a log that has begun anew since.
        live.forgetPosition()
        do throws(DaemonFailure) { try await look(at: live) } catch {
            // The call itself has succeeded. The snapshot that begins the next stream updates the object.
            state.withLock { $0.stream.forget() }
        }
        return live
    }

    private func listed(_ id: DownloadID) async throws(DownloadError) -> ListedDownload? {
        do throws(DownloadError) {
            let said = try await ask(
                DaemonCall(.show, id: id.rawValue), as: ListedDownload.self)
            return said.session == place.identifier ? said : nil
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    func count() async throws(DownloadError) -> Int {
        try await ask(DaemonCall.list(limit: 1), as: DownloadPage.self).total
    }

    func storageReport() async throws(DownloadError) -> StorageReport {
        try await ask(DaemonCall(.storage), as: StorageReport.self)
    }

    static func unreadable(_ what: String) -> DownloadError {
        DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonUnreadable, what), suggestion: ErrorPhrase(.updateFerry),
            recovery: .needsUser)
    }
}
