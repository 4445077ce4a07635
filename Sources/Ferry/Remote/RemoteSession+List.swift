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
        let reader = readers.begin()
        defer { readers.end(reader) }
        let answer = try await ask(.add, NewDownloads(named), as: DownloadItems.self)
        guard answer.items.count == named.count else { throw Self.unreadable("\(answer.items.count) answers") }
        var all: [LiveDownload] = []
        for (said, request) in zip(answer.items, named) { all.append(try await current(said, request, since: reader)) }
        return all
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        var wasRepeated = false
        let reader = readers.begin()
        defer { readers.end(reader) }
        do throws(DownloadError) {
            let call = DaemonCall(.addResumeData, json: ResumeDataBody(data.data))
            let said = try await ask(call, as: ListedDownload.self, wasRepeated: &wasRepeated)
            return try await current(said, since: reader)
        } catch {
            // An earlier attempt of this call has used the data.
            guard wasRepeated, error.code == .notResumable, let live = try await download(data.id) else { throw error }
            return live
        }
    }

    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload {
        let reader = readers.begin()
        defer { readers.end(reader) }
        return try await current(await ask(.adopt, AdoptBody(path: path), as: ListedDownload.self), since: reader)
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
        let reader = readers.begin()
        defer { readers.end(reader) }
        let page = try await ask(.list(filter, offset: offset, limit: limit), as: DownloadPage.self)
        var all: [LiveDownload] = []
        for said in page.items { all.append(try await current(said, since: reader)) }
        return all.filter { !$0.isClosed }
    }

    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload? {
        if let live = known(id) {
            try await joined()
            return live
        }
        let reader = readers.begin()
        defer { readers.end(reader) }
        guard let said = try await listed(id) else { return nil }
        let live = try await current(said, since: reader)
        return live.isClosed ? nil : live
    }

    /// The object of a download in a response, as of the newest event; closed if the download has left the list.
    ///
    /// An event during the call, which began after `reader`, may have found no object to update. So a new object is
    /// registered first and then compared with the noted events, while an event is noted first and then searches the
    /// object: one of them finds the other, and the download is read again.
    private func current(
        _ said: ListedDownload, _ request: DownloadRequest? = nil, since reader: Int
    ) async throws(DownloadError) -> LiveDownload {
        guard let (live, isNew) = live(for: said, request: request) else {
            throw Self.unreadable("a download without its request")
        }
        let isOwn = said.session == place.identifier
        guard isNew, isOwn, readers.hasChanged(said.id, since: reader) else { return live }
        do throws(DownloadError) {
            if let again = try await listed(said.id) {
                if let snapshot = DownloadSnapshot(again) { show(snapshot, on: live) }
            } else {
                removed([said.id])
            }
        } catch {
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

/// Tracks, for each reader of the daemon's list, which downloads changed during the read and must be read again.
///
/// A download with a handle has an object that is newer than a row of the list. If that object is released while its
/// row is being read, the row may be outdated, and an object created from it would stay so.
final class StaleReads: Sendable {
    private struct State {
        var changed: [Int: Set<DownloadID>] = [:]
        /// Readers during which any download may have changed.
        var outdated: Set<Int> = []
        var last = 0
    }
    private let state = Mutex(State())

    /// Begins tracking changes for one reader.
    func begin() -> Int {
        state.withLock { state in
            state.last += 1
            state.changed[state.last] = []
            return state.last
        }
    }

    /// Whether a download changed since this reader began, or last called this method for it; after ``noteAll()``
    /// always.
    func hasChanged(_ id: DownloadID, since reader: Int) -> Bool {
        state.withLock { $0.changed[reader]?.remove(id) != nil || $0.outdated.contains(reader) }
    }

    func end(_ reader: Int) {
        state.withLock { state in
            state.changed[reader] = nil
            state.outdated.remove(reader)
        }
    }

    /// Notes that any download may have changed.
    func noteAll() { state.withLock { $0.outdated.formUnion($0.changed.keys) } }

    /// Notes a change; called while the object of the download still exists.
    func note(_ id: DownloadID) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.insert(id) } }
    }
}
