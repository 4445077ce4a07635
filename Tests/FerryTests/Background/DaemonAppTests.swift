import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("App with downloads in the daemon", .serialized, .timeLimit(.minutes(30)))
struct DaemonAppTests {
    @Test(
        "Daemon app: an end after the app's death is reported once to the next process, with the file",
        arguments: ["kill -9", "a trap"])
    func continues(death: String) async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let first = try home.app()
            let resource = try await home.begin("a", in: first, gate)
            if death == "a trap" {
                try first.send("trap")
                await first.wait { _ in false }
                #expect(first.hasEnded)
            } else {
                await first.kill()
            }
            gate.open()
            try await home.waitForEnd(of: "a")

            let second = try home.app()
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            #expect(second.calls == ["didComplete a", "didFinish "])
            #expect(second.numbers(of: "a").count == 1)
            let item = try #require(try await second.list().first)
            #expect(item.state == "completed")
            #expect(item.path == home.home.directory + "/a")
            home.home.shop.expect(home.home.directory + "/a", is: resource)
            // The daemon's download was never interrupted, so no byte was fetched twice. (On a machine that is busy for
            // a minute the held response is a stall, and the daemon requests the rest again.)
            #expect(home.server.bodyBytes() == resource.size)
            try await second.close()

            let third = try home.app()
            try await third.ask("activate")
            await third.waitForCall("didFinish ")
            try await third.close()
            #expect(third.calls == ["didFinish "])
            #expect(third.numbers(of: "a") == [])
            await daemon.stop()
        }
    }

    @Test("Daemon app: an end is reported again with the same number after a kill inside the handler")
    func killedInHandler() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let first = try home.app(delegate: "hold")
            _ = try await home.begin("a", in: first, gate)
            gate.open()
            await first.waitForCall("didComplete a")
            await first.waitForEnd(of: "a")
            let numbers = first.numbers(of: "a")
            #expect(numbers.count == 1)
            await first.kill()

            let second = try home.app()
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            #expect(second.calls == ["didComplete a", "didFinish "])
            #expect(second.numbers(of: "a") == numbers)
            try await second.close()
            await daemon.stop()
        }
    }

    @Test("Daemon app: the daemon launches the app for ended downloads, and the end is reported once")
    func launched() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let report = try LaunchReport(home.place + "/report")
            let gate = Gate()
            let first = try home.app(launchCommand: try home.launchCommand(report: report.path))
            _ = try await home.begin("a", in: first, gate)
            await first.kill()
            gate.open()
            let lines = await report.lines()
            #expect(lines.compactMap(\.launched) == ["test"])
            #expect(
                lines.compactMap { line in line.delegate.map { "\($0) \(line.id ?? "")" } } == [
                    "didComplete a", "didFinish ",
                ])

            let second = try home.app()
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            #expect(second.calls == ["didFinish "])
            try await second.close()
            await daemon.stop()
        }
    }

    @Test("Daemon app: four apps that start the daemon at the same time share one")
    func atOnce() async throws {
        try await DaemonAppHome.run { home in
            let apps = try (0..<4).map { _ in try home.app(delegate: "none") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for app in apps { group.addTask { try await app.ask("activate") } }
                try await group.waitForAll()
            }
            home.server.serve("/a", Resource(size: 50_000))
            try await apps[0].ask("add", ["id": "a", "url": home.server.url("/a")])
            for app in apps {
                #expect(try await app.list().map(\.id) == ["a"])
                try await app.close()
            }
        }
    }

    @Test("Daemon app: a missing daemon is started in its own session, without the app's streams, and stays")
    func starts() async throws {
        try await DaemonAppHome.run { home in
            let gate = Gate()
            let first = try home.app()
            #expect(try await home.daemonID() == nil)
            let resource = try await home.begin("a", in: first, gate)
            let id = try #require(try await home.daemonID())
            #expect(getsid(id) == id)
            #if os(Linux)
                let streams = (0...2).map {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/\($0)")
                }
                #expect(streams == ["/dev/null", "/dev/null", "/dev/null"])
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/cwd") == "/")
            #endif
            await first.kill()
            gate.open()
            try await home.waitForEnd(of: "a")
            #expect(try await home.daemonID() == id)
            let second = try home.app()
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            #expect(second.calls == ["didComplete a", "didFinish "])
            home.home.shop.expect(home.home.directory + "/a", is: resource)
            try await second.close()
        }
    }

    @Test("Daemon app: after a kill of the daemon the app starts it again, and waiting calls complete")
    func daemonKilled() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let app = try home.app()
            let resource = try await home.begin("a", in: app, gate)
            home.server.always("/a", .honest)
            home.server.serve("/b", resource)
            await daemon.kill()
            try await app.ask("add", ["id": "b", "url": home.server.url("/b")])
            for name in ["a", "b"] {
                try await app.ask("wait", ["id": name, "state": "completed"])
                await app.waitForCall("didComplete \(name)")
                home.home.shop.expect(home.home.directory + "/" + name, is: resource)
            }
            #expect(app.calls.sorted() == ["didComplete a", "didComplete b", "didFinish "])
            #expect(home.home.names == ["a", "b"])
            try await app.close()
        }
    }

    @Test("Daemon app: after kills of app and daemon the download resumes from its claimed bytes")
    func bothKilled() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let first = try home.app()
            let resource = try await home.begin("a", in: first, gate)
            // A pause makes the received bytes durable.
            try await first.ask("pause", ["id": "a"])
            let held = home.home.claimed("a")
            #expect(held >= 1_000_000)
            home.server.always("/a", .hold(gate))
            try await first.ask("resume", ["id": "a"])
            await gate.arrived(2)
            await first.kill()
            await daemon.kill()
            home.server.always("/a", .honest)
            let before = home.server.bodyBytes("/a")

            let second = try home.app()
            try await second.ask("wait", ["id": "a", "state": "completed"])
            await second.waitForCall("didComplete a")
            home.home.shop.expect(home.home.directory + "/a", is: resource)
            #expect(home.server.bodyBytes("/a") - before == resource.size - held)
            try await second.close()
        }
    }

    @Test("Daemon app: several processes of one session see every download, and a handled end is reported to no other")
    func several() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let observer = try home.app(delegate: "none")
            try await observer.ask("activate")
            let handler = try home.app()
            _ = try await home.begin("a", in: handler, gate)
            #expect(try await observer.list().map(\.id) == ["a"])
            gate.open()
            try await observer.ask("wait", ["id": "a", "state": "completed"])
            await observer.waitForEnd(of: "a")
            await handler.waitForCall("didComplete a")
            await handler.waitForEnd(of: "a")
            #expect(observer.numbers(of: "a") == handler.numbers(of: "a"))
            try await handler.close()
            try await observer.close()
            let third = try home.app()
            try await third.ask("activate")
            await third.waitForCall("didFinish ")
            try await third.close()
            #expect(third.calls == ["didFinish "])
            await daemon.stop()
        }
    }
}
