import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Relaunch after kill -9", .timeLimit(.minutes(30)))
struct RelaunchTests {
    private static let size: Int64 = 6_000_000
    private static func file(_ seed: UInt64) -> Resource { Resource(size: size, seed: seed) }

    @Test("Relaunch: all downloads are listed in order, and running and waiting ones resume (B1)")
    func states() async throws {
        try await AppHome.run { home in
            let server = home.server
            for (seed, name) in ["a", "b", "c", "d", "e", "f"].enumerated() {
                server.serve("/" + name, Self.file(UInt64(seed + 1)))
            }
            let first = try home.app(limit: 2)
            // A paused and a failed download, both with bytes.
            try await home.begin("e", in: first, bytes: 1_000_000)
            try await first.ask("pause", ["id": "e"])
            server.script("/f", [.cut(after: 2_000_000)], then: .status(451))
            try await first.ask("add", ["id": "f", "url": server.url("/f")])
            #expect(try await first.ask("wait", ["id": "f", "state": "failed"]).state == "failed")
            // Two running and two waiting downloads.
            try await home.begin("a", in: first, bytes: 1_000_000)
            try await home.begin("b", in: first, bytes: 1_500_000)
            for name in ["c", "d"] { try await first.ask("add", ["id": name, "url": server.url("/" + name)]) }
            let before = try await first.list()
            #expect(before.map(\.id) == ["e", "f", "a", "b", "c", "d"])
            #expect(
                before.map(\.state) == [
                    "paused", "failed", "downloading", "downloading", "waiting(slot)", "waiting(slot)",
                ])
            await first.kill()
            #expect(!server.requests.contains { $0.path == "/c" || $0.path == "/d" })

            let gate = Gate()
            for name in ["a", "b", "c", "d", "e", "f"] { server.always("/" + name, .hold(gate)) }
            let held = ["a", "b", "e", "f"].map(home.claimed)
            #expect(held[0] >= 1_000_000)
            #expect(held[1] >= 1_500_000)
            #expect(held[2] >= 2_000_000)
            #expect(held[3] > 0)
            let (requests, served) = (server.requests.count, server.traffic.bodyBytesByPath)
            let second = try home.app(limit: 2)
            let found = try await second.list()
            #expect(found.map(\.id) == before.map(\.id))
            #expect([found[0].state, found[1].state] == ["paused", "failed"])
            #expect(found[4...].allSatisfy { $0.state == "waiting(slot)" })
            #expect([found[2].bytes, found[3].bytes, found[0].bytes, found[1].bytes] == held)
            #expect(found.map(\.total) == [Self.size, Self.size, Self.size, Self.size, nil, nil])
            await gate.arrived(2)
            #expect(Set(server.requests[requests...].map(\.path)) == ["/a", "/b"])
            gate.open()
            for name in ["a", "b", "c", "d"] {
                try await second.ask("wait", ["id": name, "state": "completed"])
                await second.waitForEnd(of: name)
            }
            for (index, name) in ["a", "b"].enumerated() {
                let offsets = second.lines.compactMap { line -> Int64? in
                    guard line.id == name, case .resumed(let offset, _, _) = line.kind else { return nil }
                    return offset
                }
                #expect(offsets == [held[index]])
                let again = server.bodyBytes("/" + name) - (served["/" + name] ?? 0)
                #expect(again == Self.size - held[index], "\(name)")
            }
            for (seed, name) in ["a", "b", "c", "d"].enumerated() {
                home.shop.expect(home.directory + "/" + name, is: Self.file(UInt64(seed + 1)))
            }
            #expect(try await second.list()[..<2].map(\.state) == ["paused", "failed"])
            #expect(!server.requests[requests...].contains { $0.path == "/e" || $0.path == "/f" })
            // Both can be resumed.
            for name in ["e", "f"] {
                try await second.ask("resume", ["id": name])
                try await second.ask("wait", ["id": name, "state": "completed"])
            }
            #expect(server.bodyBytes("/f") - (served["/f"] ?? 0) == Self.size - held[3])
            try await second.close()
            #expect(home.names == ["a", "b", "c", "d", "e", "f"])
        }
    }

    /// Progress was stored every ten seconds while the download ran, but not when it began to wait.
    @Test("Relaunch: a download that waited for a retry shows its held bytes")
    func betweenAttempts() async throws {
        try await AppHome.run { home in
            home.server.serve("/a", Self.file(1))
            home.server.script("/a", [.cut(after: 5_000_000)], then: .status(503, retryAfter: "3600"))
            let first = try home.app()
            try await first.ask("add", ["id": "a", "url": home.server.url("/a")])
            try await eventually {
                first.lines.contains { line in
                    if case .retrying(_, let delay, _) = line.kind { delay > .seconds(30) } else { false }
                }
            }
            try await first.ask("wait", ["id": "a", "state": "waiting(retry)"])
            // A read returns after all earlier writes.
            #expect(try await first.list().map(\.state) == ["waiting(retry)"])
            try await eventually { home.claimed("a") > 0 }
            await first.kill()
            let held = home.claimed("a")
            let second = try home.app()
            let found = try await second.list()
            #expect(found.map(\.state) == ["waiting(retry)"])
            #expect(found.map(\.bytes) == [held])
            #expect(found.map(\.total) == [Self.size])
            try await second.close()
        }
    }

    @Test("Relaunch: downloads in a moved directory are found and resume there")
    func moved() async throws {
        try await AppHome.run { home in
            home.server.serve("/a", Self.file(1))
            home.server.serve("/b", Self.file(2))
            let first = try home.app()
            try await first.ask("add", ["id": "b", "url": home.server.url("/b")])
            try await first.ask("wait", ["id": "b", "state": "completed"])
            try await home.begin("a", in: first, bytes: 1_000_000)
            await first.kill()

            let held = home.claimed("a")
            var other = home
            other.downloads = "elsewhere"
            try FileManager.default.moveItem(atPath: home.directory, toPath: other.directory)
            home.server.always("/a", .honest)
            let (bytes, requests) = (home.server.bodyBytes("/a"), home.server.traffic.requestCount)
            let second = try other.app()
            try await second.ask("wait", ["id": "a", "state": "completed"])
            #expect(home.server.bodyBytes("/a") - bytes == Self.size - held)
            // The completed download is found under its new path too.
            try await second.ask("add", ["url": home.server.url("/b")])
            #expect(try await second.list().map(\.state) == ["completed", "completed"])
            #expect(!home.server.requests[requests...].contains { $0.path == "/b" })
            try await second.close()
            #expect(other.names == ["a", "b"])
            #expect(!FileManager.default.fileExists(atPath: home.directory))
            other.shop.expect(other.directory + "/a", is: Self.file(1))
        }
    }

    @Test("Relaunch: with another default directory, a download resumes in the directory to which it was added")
    func otherDefault() async throws {
        try await AppHome.run { home in
            home.server.serve("/a", Self.file(1))
            home.server.serve("/b", Self.file(2))
            let first = try home.app()
            try await home.begin("a", in: first, bytes: 1_000_000)
            await first.kill()

            let held = home.claimed("a")
            var other = home
            other.downloads = "elsewhere"
            home.server.always("/a", .honest)
            let bytes = home.server.bodyBytes("/a")
            let second = try other.app()
            try await second.ask("wait", ["id": "a", "state": "completed"])
            #expect(home.server.bodyBytes("/a") - bytes == Self.size - held)
            try await second.ask("add", ["id": "b", "url": home.server.url("/b")])
            try await second.ask("wait", ["id": "b", "state": "completed"])
            try await second.close()
            #expect(home.names == ["a"] && other.names == ["b"])
            home.shop.expect(home.directory + "/a", is: Self.file(1))
        }
    }

    @Test("Relaunch: a second process is refused, and the first completes its download (B9)")
    func second() async throws {
        try await AppHome.run { home in
            home.server.serve("/a", Self.file(1))
            let gate = Gate()
            home.server.always("/a", .hold(after: 1_000_000, gate))
            let first = try home.app()
            try await first.ask("add", ["id": "a", "url": home.server.url("/a")])
            try await first.ask("wait", ["id": "a", "bytes": 1_000_000])
            let second = try home.app()
            for command in ["activate", "list"] {
                let refused = try #require(try await second.attempt(command))
                #expect(refused.error == "catalogue")
                #expect(refused.message?.contains("open in another process") == true, "\(refused.message ?? "")")
            }
            let refused = try #require(try await second.attempt("add", ["url": home.server.url("/a")]))
            #expect(refused.error == "catalogue")
            gate.open()
            try await first.ask("wait", ["id": "a", "state": "completed"])
            #expect(home.server.traffic.requestCount == 1)
            await first.kill()
            // The same process can open the list now.
            #expect(try await second.list().map(\.id) == ["a"])
            try await second.close()
            #expect(home.names == ["a"])
        }
    }
}
