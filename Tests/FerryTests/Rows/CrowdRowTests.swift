import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// Servers that do not want many connections, and such that make many pay (A13, A46–A48).
@Suite("A server and the number of connections", .timeLimit(.minutes(30)))
struct CrowdRowTests {
    private static func limited(_ limit: ConnectionLimit, rate: Int64 = 8_000_000) -> OriginServer.Configuration {
        var configuration = Workshop.counting
        configuration.connectionRate = rate
        configuration.limit = limit
        return configuration
    }

    @Test(
        "A46: that allows only two, whatever it does to more of them: the file is right, nothing begins again",
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

    @Test("A46: that allows one alone is asked by one, and none of its bytes is lost")
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

    /// How many are found in which time is shown with the machine's own clock, in `TransferMachineScenarioTests`.
    @Test("A47: that throttles each of them gets several")
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

    @Test("A48: that answers one at a time finishes with one", arguments: [ConnectionLimit.Excess.wait, .hang])
    func oneAtATime(excess: ConnectionLimit.Excess) async throws {
        try await Workshop.run(Self.limited(ConnectionLimit(1, excess), rate: 12_000_000)) { shop in
            let resource = Resource(size: 32_000_000)
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes() < resource.size + resource.size / 2)
        }
    }

    @Test("A13: whose nodes give one file different tags: parts are not joined under two of them, and nothing is lost")
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

    @Test("A2, A13: whose file changes while several are at it: all of one version, with the reason")
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
