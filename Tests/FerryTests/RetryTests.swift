import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Retries of a download", .timeLimit(.minutes(30)))
struct RetryTests {
    @Test("Retry: the state is waiting with the date of the next attempt, then downloading (A38)")
    func states() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            let gate = Gate()
            let clock = JumpingClock()
            shop.server.script("/a", [.status(503, retryAfter: "3000"), .hold(gate)])
            let manager = shop.manager(engine: shop.engine(clock: clock)) { $0.stallTimeout = .seconds(6000) }
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(download) { if case .waiting(.retry) = $0 { true } else { false } }
            guard case .waiting(.retry(let date)) = download.status.state else {
                Issue.record("\(download.status.state)")
                return
            }
            #expect(date > Date(timeIntervalSinceNow: 1000))
            clock.jump(.seconds(3001))
            await gate.arrived()
            #expect(download.status.state == .downloading)
            gate.open()
            _ = try await download.finished()
            await manager.shutdown()
        }
    }

    @Test("Retry: after the maximum of attempts without progress it fails, and part file and journal stay")
    func givesUp() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(503))
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxRetries = 2 })
            #expect(outcome.error?.code == .refused)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            let attempts = outcome.events.compactMap {
                if case .retrying(let attempt, _, _) = $0 { attempt } else { nil }
            }
            #expect(attempts == [1, 2])
        }
    }

    @Test("Retry: a connection that is slower than the request's least speed is replaced")
    func slow() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            // Without a least speed that is fast enough.
            shop.server.script("/a", [.rate(50_000)])
            // Long enough for a thousand bytes on a busy machine, where good responses are slow too.
            let outcome = try await shop.get(
                "/a",
                {
                    $0.stallTimeout = .seconds(3)
                    $0.maxRetries = nil
                },
                {
                    $0.maxConnections = 1
                    $0.minSpeed = 10_000_000
                })
            shop.expect(try outcome.file.path, is: resource)
            #expect(outcome.notes("slower than 10.0 MB/s"))
            #expect(shop.server.requests.count >= 2)
        }
    }

    @Test("Retry: a response cut before its first byte is retried under the same name, and no file is left over")
    func emptyAnswer() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 0), .cut(after: 0, .reset)])
            let outcome = try await shop.get("/a", engine: shop.engine())
            let file = try outcome.file
            #expect(file.path == shop.path("a"))
            shop.expect(file.path, is: resource)
            #expect(shop.names == ["a"])
            #expect(outcome.events.count { if case .started = $0 { true } else { false } } == 1)
        }
    }

    @Test("Retry: a small file is written to the disk between attempts, and the next run resumes")
    func small() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 500_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 200_000)], then: .status(503, retryAfter: "3600"))
            let manager = shop.manager(engine: shop.engine())
            let download = try await manager.download(try shop.request("/a"))
            let requests = try await shop.server.waitFor { $0.requests.count >= 2 }
            #expect(requests.requests.last?.range?.hasPrefix("bytes=") == true)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            _ = download
            await manager.shutdown()
            shop.server.always("/a", .honest)
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: resource)
            #expect((outcome.resumedAt ?? 0) > 0)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Small file: a slow one is on the disk after two seconds, also when a checkpoint is due")
    func slowSmall() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 500_000)
            let gate = Gate()
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.hold(after: 100_000, gate)])
            let clock = JumpingClock(isFrozen: true)
            let manager = shop.manager(engine: shop.engine(clock: clock))
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(100_000, download)
            #expect(shop.names == [])
            // A checkpoint is due at the same time.
            clock.jump(.seconds(11))
            while shop.names != ["a.part", "a.part.ferry"] { await shop.reach(download) { _ in true } }
            gate.open()
            let file = try await download.finished()
            shop.expect(file.path, is: resource)
            #expect(file.proof == .single)
            #expect(shop.names == ["a"])
            await manager.shutdown()
        }
    }
}
