import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// Servers that are slow, silent or endless (A28–A31).
@Suite("A server that is slow, silent or endless", .timeLimit(.minutes(30)))
struct PatienceRowTests {
    @Test(
        "A28: a body that stalls, or comes one byte a second, is cut at the stall timeout, and goes on where it was",
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
            // A byte or two of the slow one may have come.
            #expect(shop.server.bodyBytes() <= resource.size + 1000)
            var reasons: [String] = []
            for await event in events {
                if case .retrying(_, _, let reason) = event.kind { reasons.append(reason) }
                if case .note(let text) = event.kind { reasons.append(text) }
            }
            #expect(reasons.contains { $0.contains("stalled") }, "\(reasons)")
        }
    }

    @Test(
        "A28: a server that says nothing, or never ends its head, is given up at the limit for a head, and asked again")
    func silence() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            // Interim answers without end are no head either (A31).
            let interim = Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8)
            let endless = Behaviour { answer, _, _ in
                answer.before = [.pace(bytesPerSecond: 2_000_000), .endless(interim)]
            }
            shop.server.script("/a", [.silence, endless, .raw("HTTP/1.1 200 OK\nContent-", ending: .hang)])
            let outcome = try await shop.get("/a", engine: shop.engine()) {
                $0.stallTimeout = .seconds(1)
                $0.transfer.connectTimeout = .seconds(1)
                $0.maxAttempts = nil
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.says("no answer in time"), "\(outcome.reasons)")
            #expect(outcome.retries >= 3)
            #expect(shop.names == ["a"])
        }
    }

    @Test("A28: of a server that accepts and says nothing the greeting is waited for no longer than a head")
    func greeting() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 10_000)
            shop.server.serve("/a", resource)
            shop.server.greet([.silence])
            let outcome = try await shop.get("/a", engine: shop.engine()) {
                $0.stallTimeout = .seconds(1)
                $0.transfer.connectTimeout = .seconds(1)
                $0.maxAttempts = nil
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries >= 1)
        }
    }

    @Test(
        "A29: a body without end is given up at --max-size, and what is on the disk is no larger",
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

    @Test("A29: a file that says to be larger than --max-size is refused before its body")
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
