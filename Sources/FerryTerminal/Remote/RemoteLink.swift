import Ferry
package import FerryAPI
package import FerryCore

/// The way to the daemon, for one command.
package struct RemoteLink: Sendable {
    package let client: DaemonClient
    /// What the daemon said of itself.
    package let greeting: Greeting

    /// Finds the daemon; with `starts`, one that does not run is started.
    ///
    /// Throws `daemonUnavailable` with the reason.
    package static func open(starts: Bool) async throws(DownloadError) -> RemoteLink {
        let socket = DaemonSocket.path()
        try DaemonSocket.check(socket)
        let client = DaemonClient(socket: socket, session: FerryAPI.defaultSession)
        do throws(DaemonFailure) {
            return RemoteLink(client: client, greeting: try await client.greet())
        } catch {
            guard starts, case .unreachable = error else { throw error.error(socket: socket) }
        }
        try await start()
        do throws(DaemonFailure) {
            return RemoteLink(client: client, greeting: try await client.greet())
        } catch { throw error.error(socket: socket) }
    }

    /// A manager of the session starts the daemon when it does not run.
    private static func start() async throws(DownloadError) {
        let manager = DownloadManager(.background(identifier: FerryAPI.defaultSession))
        let result: Result<Void, DownloadError>
        do throws(DownloadError) { result = .success(try await manager.activate()) } catch { result = .failure(error) }
        await manager.shutdown()
        try result.get()
    }

    // MARK: Asking

    package func ask<Answer: Decodable & Sendable>(
        _ call: DaemonCall, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        do throws(DaemonFailure) { return try await client.send(call, as: type) } catch {
            throw error.error(socket: client.socket)
        }
    }

    package func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [], as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        try await ask(DaemonCall(route, id: id, query: query), as: type)
    }

    /// A call that carries a shape.
    package func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", body: some Encodable, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        let call: DaemonCall
        do { call = try DaemonCall(route, id: id, json: body) } catch { throw DownloadError(.internal, "\(error)") }
        return try await ask(call, as: type)
    }

    /// All downloads that pass a filter, page by page, in its order; at most `limit`.
    package func downloads(
        _ filter: [(name: String, value: String)] = [], limit: Int = .max
    ) async throws(DownloadError) -> [ListedDownload] {
        var all: [ListedDownload] = []
        var seen: Set<DownloadID> = []
        var offset = 0
        while all.count < limit {
            let size = min(FerryAPI.mostEntries, limit - all.count)
            let page = try await ask(
                .list, query: filter + [("offset", "\(offset)"), ("limit", "\(size)")], as: DownloadPage.self)
            all += page.items.filter { seen.insert($0.id).inserted }
            offset += page.items.count
            if page.items.isEmpty || offset >= page.total { break }
        }
        return all
    }
}
