import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

/// A wall clock that jumps by decades at each read, with a steady monotonic clock.
private final class WildClock: EngineClock {
    private let looks = Atomic(0)
    private let system = SystemClock()
    private static let years: [Double] = [-200, 150, 0, -50, 30]

    func now() -> Duration { system.now() }
    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
    func date() -> Date {
        let look = looks.add(1, ordering: .relaxed).oldValue
        return system.date().addingTimeInterval(Self.years[look % Self.years.count] * 31_557_600)
    }
}

@Suite("Wall clock that jumps while downloads run", .timeLimit(.minutes(30)))
struct ClockTests {
    @Test("Wall clock: jumps by decades keep retry delays in range and cause no restart (B11)")
    func wild() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script(
                "/a", [.cut(after: 5_000_000, .reset), .status(503, retryAfter: "0"), .cut(after: 3_000_000)])
            let outcome = try await shop.get("/a", engine: shop.engine(clock: WildClock()), { _ in }) {
                $0.maxConnections = 1
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count == 4)
            #expect(outcome.restartReason == nil)
            for case .retrying(_, let delay, _) in outcome.events {
                #expect((Duration.zero...Duration.seconds(300)).contains(delay))
            }
        }
    }

    @Test("Wall clock: jumps by decades do not keep a later run from resuming at the claimed offset (B11)")
    func resumed() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.stall(after: 5_000_000)])
            let manager = shop.manager(engine: shop.engine(clock: WildClock()))
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(5_000_000, download)
            await manager.shutdown()
            shop.server.always("/a", .honest)
            let outcome = try await shop.get("/a", engine: shop.engine(clock: WildClock()))
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt == 5_000_000)
        }
    }
}
