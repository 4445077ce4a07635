import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Adding to the session's list, and reading it.
extension RemoteSession {
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload] {
        // Identifiers are assigned here, so that a repeated call means the same downloads.
        var named = requests
        for index in named.indices where named[index].id == nil { named[index].id = DownloadID.make() }
        var bodies: [NewDownload] = []
        for request in named { bodies.append(try body(of: request)) }
        guard !state.withLock({ $0.isDraining }) else { throw Self.wasShutDown }
        if bodies.isEmpty { return [] }
        let call: DaemonCall
        do {
            call = try DaemonCall(.add, json: NewDownloads(bodies))
        } catch { throw DownloadError(.internal, "\(error)") }
        let answer = try await ask(call, as: DownloadItems.self)
        guard answer.items.count == named.count else { throw Self.unreadable("\(answer.items.count) answers") }
        return try zip(answer.items, named).map { (said, request) throws(DownloadError) in
            try self.live(said, request)
        }
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        let call: DaemonCall
        do {
            call = try DaemonCall(.addResumeData, json: ResumeDataBody(data.data))
        } catch { throw DownloadError(.internal, "\(error)") }
        var wasRepeated = false
        do throws(DownloadError) {
            return try live(await ask(call, as: ListedDownload.self, wasRepeated: &wasRepeated))
        } catch {
            // An earlier attempt of this call has used the data.
            guard wasRepeated, error.code == .notResumable, let live = try await download(data.id) else { throw error }
            return live
        }
    }

    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload {
        let call: DaemonCall
        do { call = try DaemonCall(.adopt, json: AdoptBody(path: path)) } catch {
            throw DownloadError(.internal, "\(error)")
        }
        return try live(await ask(call, as: ListedDownload.self))
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

    /// Reads the list page by page; `limit` may be `Int.max`.
    private func list(
        offset: Int, limit: Int, _ filter: [(name: String, value: String)]
    ) async throws(DownloadError) -> [LiveDownload] {
        var all: [LiveDownload] = []
        var seen: Set<DownloadID> = []
        var next = offset
        while all.count < limit {
            let size = min(FerryAPI.mostEntries, limit - all.count)
            let query = filter + [("offset", "\(next)"), ("limit", "\(size)")]
            let reader = readers.begin()
            defer { readers.end(reader) }
            let page = try await ask(DaemonCall(.list, query: query), as: DownloadPage.self)
            for said in page.items where seen.insert(said.id).inserted {
                if let live = try await fresh(said, reader) { all.append(live) }
            }
            next += page.items.count
            if page.items.count < size || next >= page.total { break }
        }
        return all
    }

    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload? {
        if let live = known(id) {
            try await joined()
            return live
        }
        let reader = readers.begin()
        defer { readers.end(reader) }
        guard let said = try await listed(id) else { return nil }
        return try await fresh(said, reader)
    }

    /// The object of a listed download, requested again if it has changed since `reader` began. `nil` if it has left
    /// the list.
    private func fresh(_ said: ListedDownload, _ reader: Int) async throws(DownloadError) -> LiveDownload? {
        var said = said
        while readers.hasChanged(said.id, since: reader), known(said.id) == nil {
            guard let again = try await listed(said.id) else { return nil }
            said = again
        }
        return try live(said)
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
        try await ask(DaemonCall(.list, query: [("limit", "1")]), as: DownloadPage.self).total
    }

    func storageReport() async throws(DownloadError) -> StorageReport {
        let said = try await ask(DaemonCall(.storage), as: StorageBody.self)
        var report = StorageReport()
        report.partBytes = said.partBytes
        report.finishedBytes = said.finishedBytes
        report.orphanedParts = said.orphanedParts
        report.orphanedBytes = said.orphanedBytes
        return report
    }

    /// The object of a response, with the request of this process if given.
    func live(_ said: ListedDownload, _ request: DownloadRequest? = nil) throws(DownloadError) -> LiveDownload {
        guard let live = live(for: said, request: request) else {
            throw Self.unreadable("a download without its request")
        }
        return live
    }

    static func unreadable(_ what: String) -> DownloadError {
        DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonUnreadable, what), suggestion: ErrorPhrase(.updateFerry),
            recovery: .needsUser)
    }
}
