import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// A server and what it does, request by request.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var behaviours: [Behaviour]
    var then: Behaviour = .honest
    var testDescription: String { name }
    init(_ name: String, _ behaviours: [Behaviour], then: Behaviour = .honest) {
        self.name = name
        self.behaviours = behaviours
        self.then = then
    }
}

/// What a server does when a download goes on.
struct Change: Sendable, CustomTestStringConvertible {
    var name: String
    var then: Behaviour
    /// Whether the bytes of the first run may be kept.
    var goesOn: Bool
    var testDescription: String { name }
}

/// What a whole download does about servers that misbehave (TRUST A).
@Suite("A server that misbehaves", .timeLimit(.minutes(10)))
struct TrustRowTests {
    static let survivable: [Row] = [
        Row("A2: ignores Range on some connections", [.honest, .ignoreRange, .honest, .ignoreRange]),
        Row("A5: a 206 that ends early", [.cut(after: 4_000_000), .endsEarly(after: 1_000_000)]),
        Row("A6: a 206 that ends late", [.cut(after: 4_000_000)], then: .endsLate(by: 1_000_000)),
        Row("A6: a body longer than asked", [.cut(after: 4_000_000)], then: .whenRanged(.excess(1000))),
        Row("A10: a 206 that nobody asked for", [.partialUnasked()]),
        Row("A22: a body longer than its length", [.excess(1000)]),
        Row("A21: reset in the middle", [.cut(after: 6_000_000, .reset)]),
        Row("A31: many 1xx", [.informational(20)]),
        Row("A33: twenty redirects", [], then: .redirectChain(19)),
        Row(
            "A38: 408, then 425, then 429",
            [
                .status(408), .status(425), .status(429, retryAfter: "0"),
            ]),
        Row("A38: a Retry-After that is no time", [.status(503, retryAfter: "soon")]),
        Row("A44: a connection that is closed at once", [.drop(), .drop(.reset)]),
        Row("A16: an ETag without quotes", [], then: .etag("abc")),
        Row("A18: encoded although identity was asked", [], then: .contentEncoding("gzip")),
    ]

    @Test("in these ways is survived, and the file is right", arguments: survivable)
    func survives(row: Row) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", row.behaviours, then: row.then)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.names == ["a"])
        }
    }

    static let refused: [Row] = [
        Row("A20: 400 with a body", [], then: .status(400)),
        Row("A24: an impossible length", [], then: .contentLength("6x")),
        Row("A24: two lengths", [], then: .secondContentLength("17")),
        Row("A24: a negative length", [], then: .contentLength("-1")),
        Row("A24: a length beyond everything", [], then: .contentLength("99999999999999999999")),
        Row("A24: both framings", [], then: .lengthAndChunked),
        Row("A30: garbage", [], then: .raw("what is this\n\n")),
        Row("A32: 204", [], then: .bodiless(204)),
        Row("A32: a 304 that was not asked for", [], then: .bodiless(304)),
        Row("A33: a redirect loop", [], then: .redirectLoop),
        Row("A33: a blank Location", [], then: .redirect(to: "")),
        Row("A33: two Locations", [], then: .redirectTwice(to: "/x", and: "/y")),
        Row("A34: to a file", [], then: .redirect(to: "file:///etc/passwd")),
        Row("A34: to ftp", [], then: .redirect(to: "ftp://127.0.0.1/a")),
        Row("A37: 404", [], then: .status(404)),
    ]

    @Test("in these ways is refused, once, and nothing is left", arguments: refused)
    func refuses(row: Row) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.script("/a", row.behaviours, then: row.then)
            let outcome = try await shop.get("/a", engine: shop.engine())
            #expect(outcome.error?.code == .refused)
            #expect(!outcome.events.contains { if case .retrying = $0 { true } else { false } })
            #expect(shop.names == [])
        }
    }

    static let resumable: [Change] = [
        Change(name: "A1: ignores Range", then: .ignoreRange, goesOn: true),
        Change(name: "A1: dislikes If-Range", then: .dislikeIfRange, goesOn: true),
        Change(name: "A5: ends early, each time", then: .whenRanged(.endsEarly(after: 5_000_000)), goesOn: true),
        Change(
            name: "A13: another ETag in each answer, with length and date as they were", then: .etag("\"node2\""),
            goesOn: true),
        Change(name: "A8: no Content-Range", then: .whenRanged(.contentRange(nil)), goesOn: true),
        Change(name: "A8: several ranges in one body", then: .multipart, goesOn: true),
        Change(name: "A9: an impossible Content-Range", then: .contentRange("bytes 9-1/10"), goesOn: true),
        Change(name: "A3: starts elsewhere", then: .shiftedRange(by: 100), goesOn: true),
        Change(name: "A17: encoded ranges", then: .whenRanged(.contentEncoding("gzip")), goesOn: true),
        Change(
            name: "A23: lengths that disagree", then: .whenRanged(.contentRange("bytes 5000000-5000009/20000000")),
            goesOn: true),
        Change(name: "A4: another total", then: .version { $0 = Resource(size: 21_000_000, seed: 3) }, goesOn: false),
        Change(name: "A14: the same ETag, another length", then: .version { $0.size = 19_000_000 }, goesOn: false),
        Change(name: "A7: a total of *", then: .total("*"), goesOn: true),
    ]

    @Test("when it goes on gets the right file all the same", arguments: resumable)
    func resumes(change: Change) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 5_000_000)
            shop.server.always("/a", change.then)
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxAttempts = 3 })
            let path = try outcome.file.path
            if change.goesOn {
                shop.expect(path, is: resource)
            } else {
                #expect(outcome.restartReason != nil)
                let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64)
                shop.expect(path, is: Resource(size: size, seed: size == 21_000_000 ? 3 : 1))
            }
            #expect(shop.names == ["a"])
        }
    }

    @Test("A19: a login page where the file was leaves the bytes and asks for a fresh link")
    func loginPage() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            try await shop.interrupt("/a", after: 5_000_000)
            shop.server.always("/a", .htmlPage())
            let outcome = try await shop.get("/a", engine: shop.engine())
            #expect(outcome.error?.code == .freshLink)
            #expect(shop.names == ["a.part", "a.part.ferry"])
        }
    }

    @Test("A11: a 416 for a file that shrank begins again")
    func shrank() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            try await shop.interrupt("/a", after: 15_000_000)
            let small = Resource(size: 10_000_000, seed: 2)
            shop.server.serve("/a", small)
            shop.server.always("/a", .ignoreIfRange)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: small)
            #expect(outcome.restartReason != nil)
            #expect(shop.names == ["a"])
        }
    }

    @Test("A36: with links that expire keeps the bytes and goes through the original link again")
    func expiring() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serveExpiring("/link", to: "/data", resource, hits: 1)
            shop.server.script("/data", [.cut(after: 5_000_000), .cut(after: 5_000_000)])
            let outcome = try await shop.get("/link", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.bodyBytes() < 30_000_000)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("A35: redirected to another origin, sends no secrets there")
    func otherOrigin() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/b", resource)
            shop.server.script("/b", [.cut(after: 5_000_000)])
            shop.server.serve("/a", Resource(size: 1))
            shop.server.always("/a", .redirect(to: shop.server.url("/b", host: "localhost")))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.credentials = Credentials(user: "me", password: "secret")
                $0.maxConnections = 1
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.traffic.requests(for: "/a").allSatisfy { $0.head["Authorization"] != nil })
            #expect(shop.server.traffic.requests(for: "/b").allSatisfy { $0.head["Authorization"] == nil })
        }
    }

    @Test("A28: silence after the head is cut after the stall timeout")
    func stall() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            let clock = JumpingClock()
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.stall(after: 5_000_000)])
            let manager = shop.manager(engine: shop.engine(clock: clock))
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(5_000_000, download)
            clock.jump(.seconds(61))
            let again = try await shop.server.waitFor { $0.requests.count >= 2 }
            #expect(again.requests.count >= 2)
            clock.jump(.seconds(1))
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("A26: a file that ends by close is not enough for --strict; A15: nor is a weak validator")
    func strict() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/close", Resource(size: 3_000_000, framing: .close))
            let first = try await shop.get("/close", { _ in }, { $0.trust.strict = true })
            #expect(first.error?.code == .unproven)
            #expect(!shop.names.contains("close"))
            let weak = Resource(size: 20_000_000, etag: "W/\"1\"", lastModified: nil)
            shop.server.serve("/weak", weak)
            try await shop.interrupt("/weak", after: 5_000_000)
            let second = try await shop.get("/weak", { _ in }, { $0.trust.strict = true })
            try shop.expect(second.file.path, is: weak)
            #expect(second.restartReason != nil)
            #expect(try second.file.proof == .single)
        }
    }

    @Test("A25: a chunked body without its last chunk is not whole")
    func lastChunk() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.missingLastChunk], then: .chunked())
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count > 1)
        }
    }
}
