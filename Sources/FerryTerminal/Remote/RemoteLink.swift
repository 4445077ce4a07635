import Ferry
package import FerryAPI
package import FerryCore

/// One command's connection to the daemon.
package struct RemoteLink: Sendable {
    package let client: DaemonClient
    /// The daemon's greeting.
    package let greeting: Greeting

    /// Connects to the daemon; with `starts`, starts it if it is not running.
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

    /// Starts the daemon by activating a background manager.
    private static func start() async throws(DownloadError) {
        let manager = DownloadManager(.background(identifier: FerryAPI.defaultSession))
        let result: Result<Void, DownloadError>
        do throws(DownloadError) { result = .success(try await manager.activate()) } catch { result = .failure(error) }
        await manager.shutdown()
        try result.get()
    }

    // MARK: Requests

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

    /// Sends a request with a JSON body.
    package func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", body: some Encodable, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        let call: DaemonCall
        do { call = try DaemonCall(route, id: id, json: body) } catch { throw DownloadError(.internal, "\(error)") }
        return try await ask(call, as: type)
    }

    /// Returns all downloads that match a filter, in its order; at most `limit`.
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
