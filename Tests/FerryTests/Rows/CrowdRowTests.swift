import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// Servers that limit connections, and servers on which several are faster (A13, A46–A48).
@Suite("Servers with a limit of connections", .timeLimit(.minutes(30)))
struct CrowdRowTests {
    private static func limited(_ limit: ConnectionLimit, rate: Int64 = 8_000_000) -> OriginServer.Configuration {
        var configuration = Workshop.counting
        configuration.connectionRate = rate
        configuration.limit = limit
        return configuration
    }

    @Test(
        "Connection limit: a server that allows two in any way sends the right file without a restart (A46)",
        arguments: [
            ConnectionLimit.Excess.refuse, .reset, .close, .status(429, retryAfter: nil), .status(503, retryAfter: "1"),
        ])
    func allowsTwo(excess: ConnectionLimit.Excess) async throws {
        try await Workshop.run(Self.limited(ConnectionLimit(2, excess))) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/a") < resource.size + resource.size / 2)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Connection limit: a server that allows one sends the file without a retry or restart (A46)")
    func allowsOne() async throws {
        try await Workshop.run(Self.limited(ConnectionLimit(1, .status(503, retryAfter: nil)))) { shop in
            let resource = Resource(size: 24_000_000)
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 0 && outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/a") < resource.size + Workshop.waste)
        }
    }

    /// `TransferMachineScenarioTests` shows with a manual clock the number of connections found over time.
    @Test("Connection limit: a server that throttles each connection gets several (A47)")
    func throttled() async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 3_000_000
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(try outcome.file.proof == .strong)
            #expect(shop.server.traffic.peakConnections >= 2)
            #expect(shop.server.bodyBytes() < resource.size + resource.size / 2)
        }
    }

    @Test(
        "Connection limit: a server that answers one at a time sends the file without a restart (A48)",
        arguments: [ConnectionLimit.Excess.wait, .hang])
    func oneAtATime(excess: ConnectionLimit.Excess) async throws {
        try await Workshop.run(Self.limited(ConnectionLimit(1, excess), rate: 12_000_000)) { shop in
            let resource = Resource(size: 32_000_000)
            shop.server.serve("/a", resource)
            // Limits how long a connection waits before another takes its bytes.
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.stallTimeout = .seconds(60) })
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes() < resource.size + resource.size / 2)
        }
    }

    @Test("Validators: nodes with different ETags for one file cause no restart, and the file is right (A13)")
    func nodes() async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 8_000_000
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.honest], then: .ignoreIfRange.and(.etag("\"node2\"")))
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("Validators: a file that changes under several connections is of one version, with the reason (A2, A13)")
    func changes() async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 8_000_000
        try await Workshop.run(configuration) { shop in
            let new = Resource(size: 40_000_000, seed: 7, lastModified: Date(timeIntervalSince1970: 1_720_000_000))
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.cut(after: 20_000_000)], then: .version { $0 = new })
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: new)
            #expect(outcome.restartReason?.contains("ETag") == true, "\(outcome.reasons)")
            #expect(shop.names == ["a"])
        }
    }
}
