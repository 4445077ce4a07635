import FerryCore
import FerryEngine
import FerryTesting
import Testing

@testable import Ferry

@Suite("What limits a download", .timeLimit(.minutes(30)))
struct DownloadBottleneckTests {
    /// Downloads until the cause is found, or to the end; returns all that were found.
    private static func causes(
        until cause: Bottleneck.Cause, of shop: Workshop, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> [Bottleneck] {
        // This machine may be busy, which would be found instead.
        let engine = EngineProvider(clock: SystemClock()) { configuration in
            EngineEnvironment(
                transport: HTTPTransport(configuration.transfer),
                throttle: Throttle(rate: configuration.rateLimit, clock: SystemClock()), processor: nil)
        }
        let manager = shop.manager(engine: engine)
        let download = try await manager.download(try shop.request("/a", change))
        var found: [Bottleneck] = []
        for await status in download.updates {
            if let limit = status.progress.bottleneck, limit != found.last { found.append(limit) }
            if status.state.isFinal || found.last?.cause == cause { break }
        }
        await manager.shutdown()
        return found
    }

    @Test("Bottleneck: the user's limit, with its rate")
    func ownLimit() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 60_000_000))
            // A server on a busy machine answers late first, which is found too.
            let found = try await Self.causes(until: .rateLimit, of: shop) { $0.rateLimit = 500_000 }
            #expect(found.last == Bottleneck(.rateLimit, bytesPerSecond: 500_000))
        }
    }

    @Test("Bottleneck: what the server gives to each connection")
    func perConnection() async throws {
        var configuration = OriginServer.Configuration()
        configuration.connectionRate = 400_000
        try await Workshop.run(configuration) { shop in
            shop.server.serve("/a", Resource(size: 200_000_000))
            let found = try await Self.causes(until: .perConnection, of: shop) { $0.maxConnections = 2 }
            let limit = try #require(found.last)
            #expect(limit.cause == .perConnection)
            #expect(limit.connections == 2 || limit.connections == 1)
            #expect((1...400_000 * 1.6).contains(limit.bytesPerSecond ?? 0))
        }
    }

    @Test("Bottleneck: the number of connections above which the server answers 503")
    func refusals() async throws {
        var configuration = OriginServer.Configuration()
        configuration.connectionRate = 400_000
        configuration.limit = ConnectionLimit(2, .status(503, retryAfter: nil))
        try await Workshop.run(configuration) { shop in
            shop.server.serve("/a", Resource(size: 200_000_000))
            let found = try await Self.causes(until: .refusals, of: shop)
            #expect(found.last?.cause == .refusals)
            #expect(found.last?.connections == 2)
        }
    }

    @Test("Bottleneck: a server that does not answer")
    func latency() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let found = try await Self.causes(until: .latency, of: shop)
            gate.open()
            #expect(found.map(\.cause) == [.latency])
            #expect((found.last?.seconds ?? 0) >= 0.5)
        }
    }
}
