import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("Extreme numbers in requests", .timeLimit(.minutes(30)))
struct ExtremeNumbersTests {
    private static var numbers: [String] { ExtremeNumbers.all.map { "\($0)" } + ExtremeNumbers.texts }

    private func send(_ rig: DaemonRig, _ route: Route, id: String = "", _ body: String) async throws -> Int {
        try await rig.send(
            route.method.rawValue, route.path(id: id, session: id), headers: ["Content-Type": "application/json"],
            body: Data(body.utf8)
        ).status
    }

    private func lives(_ rig: DaemonRig) async throws -> Bool { try await rig.ask(.greeting).status == 200 }

    @Test("API acknowledge: extreme numbers acknowledge nothing, and the daemon keeps answering")
    func acknowledge() async throws {
        try await DaemonRig.run { rig in
            let done = try await rig.add(rig.new("/file/1k"), session: "app")
            _ = try await rig.reach("completed", done.id)
            for (one, other) in ExtremeNumbers.pairs {
                // The event itself is acknowledged by its own number alone.
                guard one != 1, other != 1 else { continue }
                #expect(try await send(rig, .acknowledge, id: "app", #"{"numbers":[\#(one),\#(other)]}"#) == 204)
            }
            for text in ExtremeNumbers.texts {
                _ = try await send(rig, .acknowledge, id: "app", #"{"numbers":[\#(text)]}"#)
            }
            #expect(try await rig.daemon.manager.pendingEvents(after: 0).count == 1)
            #expect(try await lives(rig))
        }
    }

    @Test("API downloads: extreme limits are accepted or refused with 400, and the daemon keeps answering")
    func downloads() async throws {
        try await DaemonRig.run { rig in
            let url = rig.url("/file/1k")
            var names = 0
            for (one, other) in ExtremeNumbers.pairs {
                names += 1
                let body = """
                    {"urls":["\(url)"],"name":"f\(names)","startsPaused":true,"rateLimit":\(one),"maxBytes":\(other),
                    "maxConnections":\(other),"priority":\(one)}
                    """
                let status = try await send(rig, .add, body)
                let isUsable = one >= 1 && one.isSize && other >= 1 && other.isSize
                #expect(status == (isUsable ? 201 : 400), "\(one) \(other)")
            }
            #expect(try await rig.ask(.list).shape(DownloadPage.self).items.allSatisfy { $0.maxConnections <= 1000 })
            let id = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id.rawValue
            for number in Self.numbers {
                for member in ["rateLimit", "maxConnections", "priority"] {
                    _ = try await send(rig, .change, id: id, #"{"\#(member)":\#(number)}"#)
                }
                _ = try await send(rig, .move, id: id, #"{"index":\#(number)}"#)
                _ = try await rig.ask(.show, id: id)
            }
            #expect(try await lives(rig))
        }
    }

    @Test("API settings: extreme numbers are accepted or refused, and the daemon keeps answering")
    func settings() async throws {
        try await DaemonRig.run { rig in
            for member in ["maxConcurrentDownloads", "rateLimit", "connectionsPerHost", "retriesFailedAfter"] {
                for number in Self.numbers {
                    for query in ["", "?scope=session"] {
                        _ = try await rig.send(
                            "PATCH", Route.changeSettings.path() + query,
                            headers: ["Content-Type": "application/json", FerryAPI.sessionHeader: "some"],
                            body: Data(#"{"\#(member)":\#(number)}"#.utf8))
                    }
                }
                #expect(try await rig.ask(.settings).status == 200)
            }
            #expect(try await send(rig, .changeSettings, #"{"rateLimit":4611686018427387904}"#) == 400)
            let ofSession = try await rig.send(
                "PATCH", Route.changeSettings.path() + "?scope=session",
                headers: ["Content-Type": "application/json", FerryAPI.sessionHeader: "some"],
                body: Data(#"{"rateLimit":4611686018427387904}"#.utf8))
            #expect(ofSession.status == 400)
            #expect(try await lives(rig))
        }
    }

    @Test("Settings: a file with extreme numbers changes nothing, and the daemon keeps answering")
    func file() async throws {
        for number in [ByteCount.max, .min, .bound, -1, 0] {
            let text = #"{"rateLimit":\#(number),"maxConcurrentDownloads":\#(number),"retriesFailedAfter":\#(number)}"#
            try await DaemonRig.run { rig in
                try text.write(toFile: rig.directory + "/ferry.json", atomically: true, encoding: .utf8)
                await rig.log.wait(for: "the settings were left as they are")
                #expect(try await rig.ask(.settings).shape(SettingsBody.self).rateLimit == nil)
            }
        }
    }

    @Test("API queries and event ids: extreme numbers never stop the daemon from answering")
    func queries() async throws {
        try await DaemonRig.run { rig in
            for number in Self.numbers {
                for name in ["offset", "limit"] { _ = try await rig.ask(.list, query: "\(name)=\(number)") }
                let boot = rig.daemon.broadcaster.boot
                try await rig.follow(after: "\(boot)-\(number)") { _ in }
            }
            #expect(try await lives(rig))
        }
    }

    @Test("API selection: 300 downloads with repeated identifiers are resumed and removed once each")
    func selection() async throws {
        try await DaemonRig.run { rig in
            var new: [RawRequest] = []
            for number in 0..<300 {
                new.append(
                    rig.new("/file/1k") {
                        $0.id = "d\(number)"
                        $0.name = "f\(number)"
                        $0.startsPaused = true
                    })
            }
            #expect(try await rig.ask(.add, body: RawRequests(new)).status == 201)
            let ids = new.compactMap(\.id)
            let resumed = try await rig.ask(.resumeMany, body: SelectionBody(ids: ids + ids))
            #expect(try resumed.shape(ActionCount.self) == ActionCount(300))
            let removed = try await rig.ask(.removeMany, body: RemovalBody(ids + ids))
            #expect(removed.status == 200)
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 0)
        }
    }
}
