import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("API: selection of downloads", .timeLimit(.minutes(30)))
struct APISelectionTests {
    @Test("API: words select by identifier, name and prefix within a session, and an unclear one changes nothing")
    func words() async throws {
        try await DaemonRig.run { rig in
            var ids: [String] = []
            for (id, name, session) in [
                ("aa1", "one", "default"), ("aa2", "two", "default"), ("b", "two", "default"), ("c", "three", "app"),
            ] {
                let new = rig.new("/file/1k?\(id)") {
                    $0.id = id
                    $0.name = name
                    $0.startsPaused = true
                }
                ids.append(try await rig.add(new, session: session).id.rawValue)
            }
            func act(_ route: Route, _ words: [String], _ query: String = "") async throws -> DaemonRig.Reply {
                try await rig.ask(route, query: query, body: SelectionBody(words: words))
            }
            let found = try await act(.find, ["b", "one", "aa2"]).shape(DownloadItems.self).items
            #expect(found.map(\.id.rawValue) == ["b", "aa1", "aa2"])
            for (words, message) in [
                (["aa1", "two"], "two matches 2 downloads: aa2 (two), b (two)"),
                (["aa1", "aa"], "aa matches 2 downloads"),
                (["aa1", "three"], "no download is called three, and no identifier begins with it"),
            ] {
                for route in [Route.find, .cancelMany] {
                    let reply = try await act(route, words)
                    #expect([400, 404].contains(reply.status))
                    #expect(reply.problem?.detail?.hasPrefix(message) == true, "\(reply.text)")
                }
            }
            let paused = try await act(.pauseMany, ["one", "b"]).shape(ActionCount.self)
            #expect(paused.changed == 2 && paused.unchanged == ["aa1", "b"] && paused.failures == nil)
            #expect(paused.downloads?.map(\.status.state) == [.paused, .paused])
            let cancelled = try await act(.cancelMany, ["c"], "session=all").shape(ActionCount.self)
            #expect(cancelled.unchanged == nil)
            #expect(cancelled.downloads?.map(\.status.state) == [.cancelled])
            let move = MoveBody(words: ["b"], to: .before(DownloadID(rawValue: "one")))
            #expect(try await rig.ask(.moveMany, body: move).shape(ActionCount.self).changed == 1)
            #expect(try await rig.ask(.list).shape(DownloadPage.self).items.map(\.id.rawValue) == ["b", "aa1", "aa2"])
            let all = try await act(.cancelMany, ["all"]).shape(ActionCount.self)
            #expect(all.changed == 3 && all.downloads == nil)
            let removed = try await rig.ask(.removeMany, body: RemovalBody(words: ["one"])).shape(ActionCount.self)
            #expect(removed.downloads?.map(\.id.rawValue) == ["aa1"])
        }
    }
}
