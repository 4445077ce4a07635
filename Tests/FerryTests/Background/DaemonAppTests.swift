import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("An app whose downloads run in the daemon", .serialized, .timeLimit(.minutes(30)))
struct DaemonAppTests {
    @Test("is told what ended after its death, with the file, and never twice", arguments: ["kill -9", "a trap"])
    func goesOn(death: String) async throws {
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
            // It has gone on all the time: nothing was fetched twice. (A machine that is busy for a minute makes a stall of
            // the server's wait, and the daemon asks for the rest anew.)
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

    @Test("is told again when it was killed inside its handler, with the same number")
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

    @Test("is launched by the daemon when downloads have ended and it is not there; it is told, once")
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

    @Test("shares one daemon with others that start it at the same time")
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

    @Test("starts the daemon when it does not run: in a session of its own, with nothing of the app's, and it stays")
    func starts() async throws {
        try await DaemonAppHome.run { home in
            let gate = Gate()
            let first = try home.app()
            #expect(await home.daemonID() == nil)
            let resource = try await home.begin("a", in: first, gate)
            let id = try #require(await home.daemonID())
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
            #expect(await home.daemonID() == id)
            let second = try home.app()
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            #expect(second.calls == ["didComplete a", "didFinish "])
            home.home.shop.expect(home.home.directory + "/a", is: resource)
            try await second.close()
        }
    }

    @Test(
        "goes on when the daemon is killed under it: it is started again, what was asked meanwhile waits, all is told")
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

    @Test("finds everything when it was killed and the daemon too, and goes on from what is safe on the disk")
    func bothKilled() async throws {
        try await DaemonAppHome.run { home in
            let daemon = try await home.serve()
            let gate = Gate()
            let first = try home.app()
            let resource = try await home.begin("a", in: first, gate)
            // What a pause has made safe need not be fetched again.
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

    @Test("may be several processes: all see everything, and what one has handled is told to nobody again")
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
