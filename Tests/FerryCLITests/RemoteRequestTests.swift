import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

/// The requests of each command to a daemon that runs.
@Suite("The binary: requests to the daemon", .timeLimit(.minutes(30))) struct RemoteRequestTests {
    private static let listed = DownloadID(rawValue: "listed")

    private static func download(_ id: DownloadID, _ name: String) -> ListedDownload {
        ListedDownload(
            status: DownloadStatus(id: id, state: .paused, name: name), session: "default",
            url: "http://127.0.0.1/\(name)", addedAt: Date(timeIntervalSince1970: 0))
    }

    /// Answers like a daemon with one paused download, of the URL http://127.0.0.1/listed.
    private static func answer(_ request: ScriptedServer.Request, _ downloads: String) throws -> (any Encodable)? {
        let one = download(listed, "listed")
        switch request.line {
        case "GET /api/v1/settings", "PATCH /api/v1/settings":
            return SettingsBody(scope: "daemon", directory: downloads)
        case "GET /api/v1/downloads": return DownloadPage(items: [one], total: 1)
        case "GET /api/v1/downloads/listed": return DownloadDetail(one)
        case "GET /api/v1/downloads/listed/events": return EventItems([])
        case "POST /api/v1/downloads":
            let new = try JSONCoding.decode(NewDownloads.self, from: request.body).downloads
            return DownloadItems(
                new.map { request in
                    let name = request.sources.first?.text.split(separator: "/").last.map(String.init) ?? ""
                    return name == "listed" ? one : download(request.id ?? listed, name)
                })
        case "POST /api/v1/downloads/find": return DownloadItems([one])
        case let line where line.hasPrefix("POST /api/v1/downloads/"): return ActionCount(1)
        default: return nil
        }
    }

    private func run(_ arguments: [String]) async throws -> (outcome: FerryProcess.Outcome, asked: [String]) {
        let place = try Workplace()
        var result: (outcome: FerryProcess.Outcome, asked: [String])?
        try await ScriptedServer.run { request, _ in
            guard let answer = try? Self.answer(request, place.path("Downloads")),
                let data = try? JSONCoding.encode(answer)
            else { return nil }
            return .response(body: data)
        } _: { socket, server in
            let outcome = try await FerryProcess.run(
                arguments, in: place,
                environment: ["FERRY_SOCKET": socket, "FERRY_STATE_DIR": place.path("state"), "FERRY_BINARY": "/none"])
            result = (outcome, server.asked.map { $0.replacing("/api/v1", with: "") })
        }
        return try #require(result)
    }

    @Test(
        "Commands: each sends no more requests than it needs",
        arguments: [
            (["add", "http://127.0.0.1/a", "http://127.0.0.1/b"], ["GET /settings", "POST /downloads"]),
            (["add", "-d", "here", "http://127.0.0.1/a", "--json"], ["POST /downloads"]),
            (["list"], ["GET /downloads", "GET "]),
            (["show", "listed"], ["POST /downloads/find", "GET /downloads/listed", "GET /downloads/listed/events"]),
            (["pause", "listed"], ["POST /downloads/pause"]), (["resume", "listed"], ["POST /downloads/resume"]),
            (["cancel", "all"], ["POST /downloads/cancel"]), (["remove", "all"], ["POST /downloads/remove"]),
            (["restart", "listed"], ["POST /downloads/restart"]),
            (["move", "listed", "first"], ["POST /downloads/move"]),
            (["clear"], ["POST /downloads/clear"]), (["set"], ["GET /settings"]),
            (["set", "limit=1M"], ["PATCH /settings"]),
            (["set", "listed", "limit=1M"], ["POST /downloads/change"]),
        ])
    func counted(arguments: [String], requests: [String]) async throws {
        let (outcome, asked) = try await run(arguments)
        #expect(outcome.code == 0, "\(outcome.error)")
        #expect(asked == requests)
    }

    @Test("ferry add: the response of the one request has what is printed, also for a listed URL")
    func printed() async throws {
        for json in [false, true] {
            let (outcome, asked) = try await run(
                ["add", "-d", "here", "http://127.0.0.1/a", "http://127.0.0.1/listed"] + (json ? ["--json"] : []))
            #expect(outcome.code == 0)
            #expect(asked == ["POST /downloads"])
            #expect(outcome.error == "ferry: already listed: listed (paused); --again adds another\n")
            let names =
                json
                ? try objects(outcome.text).compactMap { $0["name"] as? String }
                : outcome.lines.compactMap { $0.split(separator: " ").last.map(String.init) }
            #expect(names == ["a", "listed"])
        }
    }
}
