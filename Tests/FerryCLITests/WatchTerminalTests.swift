import FerryTesting
import Foundation
import Testing

@Suite("The binary: watch on a terminal", .timeLimit(.minutes(30))) struct WatchTerminalTests {
    @Test("ferry watch: it shows the running download and obeys its keys")
    func keys() async throws {
        try await RemoteHome.run { home in
            let resource = Resource(size: 2_000_000, seed: 4)
            let gate = Gate()
            home.server.serve("/a.bin", resource)
            home.server.always("/a.bin", .hold(after: 1_000_000, gate))
            try await home.run("add", "-x", "1", home.server.url("/a.bin"))
            let watch = try FerryProcess(
                ["watch"], in: home.place, environment: home.environment, error: .terminal(columns: 90, lines: 24),
                shell: "exec \"$@\" <&2")
            await watch.waitForTerminal("> a.bin")
            await watch.waitForTerminal("50.0%")
            await watch.waitForTerminal("1 running")
            await watch.waitForTerminal("p pause")
            watch.type("p")
            await watch.waitForTerminal("1 paused")
            watch.type("-")
            await watch.waitForTerminal("limit 100.0 MB/s")
            watch.type("c")
            await watch.waitForTerminal("press c again to cancel a.bin")
            watch.type("c")
            await watch.waitForTerminal("1 cancelled")
            watch.type("q")
            let outcome = try await watch.outcome()
            #expect(outcome.code == 0)
            #expect(try await home.objects("set").first?["rateLimit"] as? Int == 100_000_000)
            #expect(try await home.objects("list").compactMap { $0["state"] as? String } == ["cancelled"])
            // An incomplete download leaves no file.
            #expect((try? FileManager.default.contentsOfDirectory(atPath: home.place.path("Downloads"))) == [])
            gate.open()
        }
    }

    @Test("ferry watch: the time to the next attempt runs, although nothing else changes")
    func countdown() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/busy.bin", Resource(size: 1000, seed: 4))
            home.server.always("/busy.bin", .status(503, retryAfter: "600"))
            try await home.run("add", home.server.url("/busy.bin"))
            let watch = try FerryProcess(
                ["watch"], in: home.place, environment: home.environment, error: .terminal(columns: 90, lines: 24),
                shell: "exec \"$@\" <&2")
            await watch.waitForTerminal(": the server")
            await watch.waitForTerminal("next attempt in 9m 5")
            await watch.waitForTerminal("next attempt in 9m 4")
            watch.type("q")
            #expect(try await watch.outcome().code == 0)
        }
    }

    @Test("ferry watch NAME: without a terminal nothing is said of others")
    func others() async throws {
        try await RemoteHome.run { home in
            let gate = Gate()
            for name in ["a.bin", "b.bin"] {
                home.server.serve("/" + name, Resource(size: 2_000_000, seed: 4))
                home.server.always("/" + name, .hold(after: 1_000_000, gate))
                try await home.run("add", "-x", "1", home.server.url("/" + name))
            }
            let watch = try FerryProcess(["watch", "a.bin"], in: home.place, environment: home.environment)
            try await home.run("pause", "b.bin")
            gate.open()
            let outcome = try await watch.outcome()
            #expect(outcome.code == 0)
            #expect(outcome.error.contains("a.bin: done"), "\(outcome.error)")
            #expect(!outcome.error.contains("b.bin"), "\(outcome.error)")
        }
    }
}
