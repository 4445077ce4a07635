import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Crashes during a run", .timeLimit(.minutes(30)))
struct CrashingRunTests {
    private static let file = Resource(size: 3_000_000, seed: 5)

    private func bad(_ items: [AppProcess.Line.Item]) -> AppProcess.Line.Item? { items.first { $0.id == "bad" } }

    @Test("Crashes: after three traps a run is paused with the reason, and the other downloads run")
    func traps() async throws {
        try await AppHome.run { home in
            let server = home.server
            for name in ["/bad", "/good"] { server.serve(name, Self.file) }
            func app() throws -> AppProcess { try home.app(limit: 1, trapsOn: "/bad") }
            let first = try app()
            try await first.ask("add", ["id": "good", "url": server.url("/good"), "isPaused": true])
            // The app dies in the run, before or after its reply.
            _ = try await first.attempt("add", ["id": "bad", "url": server.url("/bad")])
            await first.wait { _ in false }
            for _ in 0..<2 {
                let next = try app()
                _ = try await next.attempt("activate")
                await next.wait { _ in false }
                #expect(next.hasEnded)
            }
            let last = try app()
            try await last.ask("activate")
            let paused = try #require(bad(try await last.list()))
            #expect(paused.state == "paused")
            #expect(paused.pauseReason == "crashes")
            // The event may be printed after the list.
            @Sendable func tells(_ lines: [AppProcess.Line]) -> Bool {
                lines.contains { line in
                    guard line.id == "bad", case .note(let text)? = line.kind else { return false }
                    return text.contains("three times in a row")
                }
            }
            await last.wait { tells($0) }
            #expect(tells(last.lines))
            try await last.ask("resume", ["id": "good"])
            try await last.ask("wait", ["id": "good", "state": "completed"])
            #expect(!server.requests.contains { $0.path == "/bad" })
            // A resume resets the count: the app dies again, and once more at its next launch.
            _ = try await last.attempt("resume", ["id": "bad"])
            await last.wait { _ in false }
            let again = try app()
            _ = try await again.attempt("activate")
            await again.wait { _ in false }
            // Without the cause of the trap the download completes.
            let healed = try home.app(limit: 1)
            try await healed.ask("wait", ["id": "bad", "state": "completed"])
            #expect(bad(try await healed.list())?.pauseReason == nil)
            try await healed.close()
            home.shop.expect(home.directory + "/bad", is: Self.file)
        }
    }

    @Test("Crashes: three kills in a row pause the run, and an orderly end resets the count")
    func kills() async throws {
        try await AppHome.run { home in
            let server = home.server
            server.serve("/bad", Self.file)
            server.always("/bad", .stall(after: 1_000_000))
            let gate = Gate()
            func run(_ end: (AppProcess) async throws -> Void) async throws {
                let app = try home.app(limit: 1)
                try await app.ask("activate")
                try await app.ask("wait", ["id": "bad", "state": "downloading"])
                try await end(app)
            }
            let first = try home.app(limit: 1)
            try await first.ask("add", ["id": "bad", "url": server.url("/bad")])
            try await first.ask("wait", ["id": "bad", "bytes": 1_000_000])
            await first.kill()
            server.always("/bad", .hold(gate))
            try await run { await $0.kill() }
            // A run that ends in another way resets the count.
            try await run { try await $0.close() }
            try await run { await $0.kill() }
            try await run { await $0.kill() }
            // A process that returns from main without a shutdown does not count as a death.
            try await run { app in
                try app.send("exit")
                await app.wait { _ in false }
            }
            for _ in 0..<3 { try await run { await $0.kill() } }
            let last = try home.app(limit: 1)
            #expect(bad(try await last.list())?.pauseReason == "crashes")
            server.always("/bad", .honest)
            gate.open()
            try await last.ask("resume", ["id": "bad"])
            try await last.ask("wait", ["id": "bad", "state": "completed"])
            try await last.close()
            home.shop.expect(home.directory + "/bad", is: Self.file)
        }
    }
}
