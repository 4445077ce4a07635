import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// Servers that are slow, silent or endless (A28–A31).
@Suite("Slow, silent and endless servers", .timeLimit(.minutes(30)))
struct PatienceRowTests {
    @Test(
        "Stall timeout: a body that stalls or trickles is cut and resumed at its offset (A28)",
        arguments: [Behaviour.stall(after: 5_000_000), .rate(1, after: 5_000_000)])
    func stall(behaviour: Behaviour) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 12_000_000)
            let clock = JumpingClock()
            shop.server.serve("/a", resource)
            shop.server.script("/a", [behaviour])
            let manager = shop.manager(engine: shop.engine(clock: clock)) { $0.stallTimeout = .seconds(6000) }
            let events = manager.events
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(5_000_000, download)
            clock.jump(.seconds(6001))
            try await shop.server.waitFor { $0.requests.count >= 2 }
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
            // A few bytes of the slow body may have arrived.
            #expect(shop.server.bodyBytes() <= resource.size + 1000)
            var reasons: [String] = []
            for await event in events {
                if case .retrying(_, _, let reason) = event.kind { reasons.append(reason) }
                if case .note(let text) = event.kind { reasons.append(text) }
            }
            #expect(reasons.contains { $0.contains("stalled") }, "\(reasons)")
        }
    }

    @Test("Head timeout: a server that sends no head, or never ends it, is requested again (A28)")
    func silence() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            // Interim responses without end are no final head either (A31).
            let interim = Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8)
            let endless = Behaviour { answer, _, _ in
                answer.before = [.pace(bytesPerSecond: 2_000_000), .endless(interim)]
            }
            shop.server.script("/a", [.silence, endless, .raw("HTTP/1.1 200 OK\nContent-", ending: .hang)])
            let outcome = try await shop.get("/a", engine: shop.engine()) {
                $0.stallTimeout = .seconds(1)
                $0.transfer.connectTimeout = .seconds(1)
                $0.maxRetries = nil
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.says("no answer in time"), "\(outcome.reasons)")
            #expect(outcome.retries >= 3)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Head timeout: a connection that stays silent after accept is given up and made again (A28)")
    func greeting() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 10_000)
            shop.server.serve("/a", resource)
            shop.server.greet([.silence])
            let outcome = try await shop.get("/a", engine: shop.engine()) {
                $0.stallTimeout = .seconds(1)
                $0.transfer.connectTimeout = .seconds(1)
                $0.maxRetries = nil
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries >= 1)
        }
    }

    @Test(
        "Maximum size: an endless body ends with tooLarge, and the part file is no larger (A29)",
        arguments: [false, true])
    func endless(isChunked: Bool) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            shop.server.serve("/a", Resource(size: 1))
            shop.server.always("/a", .endlessBody(chunked: isChunked))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.maxBytes = 3_000_000 })
            #expect(outcome.error?.code == .tooLarge)
            #expect(outcome.says("3000000"))
            #expect(outcome.retries == 0)
            #expect(shop.server.bodyBytes() < 3_000_000 + 5 * Workshop.waste)
            #expect(!shop.names.contains("a"))
            let attributes = try? FileManager.default.attributesOfItem(atPath: shop.path("a.part"))
            #expect(attributes?[.size] as? Int64 ?? 0 <= 3_000_000 + (1 << 20))
        }
    }

    @Test(
        "Expected size: an endless body ends with the reason, and the part file is no larger (A29)",
        arguments: [false, true])
    func longerThanExpected(isChunked: Bool) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            shop.server.serve("/a", Resource(size: 1))
            shop.server.always("/a", .endlessBody(chunked: isChunked))
            // The limit of the size is the guard against an endless test.
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                ($0.expectedBytes, $0.maxBytes) = (3_000_000, 1 << 30)
            }
            #expect(outcome.error?.code == .checksum)
            #expect(outcome.says("larger than the 3000000 bytes allowed"))
            #expect(outcome.retries == 0)
            #expect(shop.server.bodyBytes() < 3_000_000 + 5 * Workshop.waste)
            #expect(!shop.names.contains("a"))
            let attributes = try? FileManager.default.attributesOfItem(atPath: shop.path("a.part"))
            #expect(attributes?[.size] as? Int64 ?? 0 <= 3_000_000 + (1 << 20))
        }
    }

    @Test("Maximum size: a larger Content-Length is refused before the body (A29)")
    func tooLarge() async throws {
        try await Workshop.run(Workshop.counting) { shop in
            shop.server.serve("/a", Resource(size: 50_000_000))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.maxBytes = 3_000_000 })
            #expect(outcome.error?.code == .tooLarge)
            #expect(shop.server.bodyBytes() < Workshop.waste)
            #expect(shop.names == [])
        }
    }
}
