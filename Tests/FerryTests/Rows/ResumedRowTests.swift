import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// A server's behaviour on resume.
struct Change: Sendable, CustomTestStringConvertible {
    enum Fate: Sendable {
        /// The held bytes are resumed.
        case continues
        /// The held bytes are of the same file, which is nevertheless read from its start.
        case isReadOver
        /// The held bytes are of another file: a new part file, with the reason.
        case beginsAgain
    }

    var name: String
    /// The behaviours for the first requests, one each.
    var behaviours: [Behaviour] = []
    var then: Behaviour = .honest
    var fate: Fate
    /// Text that an event contains.
    var reason: String
    /// The number of dropped responses, each of which costs a socket buffer.
    var dropped: Int64 = 0
    var testDescription: String { name }
}

/// Resumed downloads from servers that misbehave.
@Suite("Misbehaving servers on resume", .timeLimit(.minutes(30)))
struct ResumedRowTests {
    private static let size: Int64 = 12_000_000
    private static let held: Int64 = 5_000_000

    /// Values of a 206 for bytes 5000000 to 11999999 of 12000000 that are no Content-Range of these.
    private static let malformed: [(String, String)] = [
        ("last < first", "bytes 9-1/10"), ("total ≤ last", "bytes 5000000-11999999/11999999"),
        ("a position beyond 2^63", "bytes 5000000-9223372036854775808/12000000"),
        ("a total beyond 2^63", "bytes 5000000-11999999/99999999999999999999"),
        ("all beyond 2^63", "bytes 9223372036854775807-9223372036854775808/9223372036854775809"),
        ("a negative position", "bytes -5000000-11999999/12000000"), ("a negative total", "bytes 5000000-11999999/-1"),
        ("another unit", "items 5000000-11999999/12000000"), ("no last position", "bytes 5000000-/12000000"),
        ("no total", "bytes 5000000-11999999"), ("bytes= for bytes", "bytes=5000000-11999999/12000000"),
        ("*/N on a 206", "bytes */12000000"), ("nothing", ""), ("words", "all of it"),
    ]

    static let changes: [Change] =
        [
            Change(name: "A1: ignores Range", then: .ignoreRange, fate: .isReadOver, reason: "no ranges", dropped: 1),
            Change(
                name: "A1: dislikes If-Range", then: .dislikeIfRange, fate: .continues, reason: "If-Range", dropped: 1),
            Change(
                name: "A3: starts later, once", behaviours: [.shiftedRange(by: 100)], fate: .continues,
                reason: "got byte 5000100", dropped: 1),
            Change(
                name: "A3: starts earlier, always", then: .shiftedRange(by: -100), fate: .isReadOver,
                reason: "got byte 4999900", dropped: 2),
            Change(
                name: "A4: another total under the same validators", behaviours: [.total("12000001")],
                fate: .isReadOver, reason: "read from the start", dropped: 1),
            Change(
                name: "A4: another file of another length",
                then: .version { $0 = Resource(size: 13_000_000, seed: 3) }, fate: .beginsAgain,
                reason: "the size was 12000000 bytes and is 13000000"),
            Change(
                name: "A5: ends early, each time", then: .whenRanged(.endsEarly(after: 2_000_000)), fate: .continues,
                reason: "matched"),
            Change(
                name: "A6: goes on to the end of the file", behaviours: [.endsEarly(after: 1_000_000)],
                then: .whenRanged(.excess(5000)), fate: .continues, reason: "matched"),
            Change(name: "A7: a total of *", then: .total("*"), fate: .continues, reason: "matched"),
            Change(
                name: "A8: no Content-Range", then: .whenRanged(.contentRange(nil)), fate: .isReadOver,
                reason: "without one Content-Range", dropped: 2),
            Change(
                name: "A8: two Content-Ranges", then: .whenRanged(.extraField("Content-Range", "bytes 0-1/2")),
                fate: .isReadOver, reason: "without one Content-Range", dropped: 2),
            Change(
                name: "A8: several ranges in one body", then: .multipart, fate: .isReadOver,
                reason: "several ranges in one body", dropped: 2),
            Change(
                name: "A13: another ETag in each answer, with length and date as they were", then: .etag("\"node2\""),
                fate: .continues, reason: "samples matched", dropped: 2),
            Change(
                name: "A13: another ETag and another date", then: .etag("\"b\"").and(.lastModified(nil)),
                fate: .beginsAgain, reason: "became \"b\"", dropped: 1),
            Change(
                name: "A14: the same ETag, another length and another date",
                then: .version {
                    ($0.size, $0.lastModified) = (11_000_000, Date(timeIntervalSince1970: 1_710_000_000))
                },
                fate: .beginsAgain, reason: "the size was 12000000 bytes and is 11000000", dropped: 1),
            Change(
                name: "A17: encoded ranges", then: .whenRanged(.contentEncoding("gzip")), fate: .isReadOver,
                reason: "encoded", dropped: 2),
            Change(
                name: "A20: an error with a body, then the file", behaviours: [.status(500), .status(503)],
                fate: .continues, reason: "answered 500"),
            Change(
                name: "A23: a length that is less than the range", then: .whenRanged(.contentLength("1000")),
                fate: .isReadOver, reason: "disagree", dropped: 2),
            Change(
                name: "A23: a range that is less than the length",
                then: .whenRanged(.contentRange("bytes 5000000-5000009/12000000")), fate: .isReadOver,
                reason: "disagree", dropped: 2),
        ]
        + malformed.map { name, value in
            Change(
                name: "A9: \(name): \(value)", then: .contentRange(value), fate: .isReadOver,
                reason: value.isEmpty ? "Content-Range" : "impossible Content-Range", dropped: 2)
        }

    @Test("Resume: each misbehaviour gives the right file and fetches no more than necessary", arguments: changes)
    func resumes(change: Change) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            #expect(try shop.held("a", of: resource) == Self.held)
            let (before, earlier) = (shop.server.bodyBytes(), shop.server.requests.count)
            shop.server.script("/a", change.behaviours, then: change.then)
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxRetries = 3 })
            let file = try outcome.file
            #expect(outcome.says(change.reason), "\(outcome.reasons)")
            #expect(shop.names == ["a"])
            var needed = Self.size
            switch change.fate {
            case .continues:
                needed -= Self.held
                #expect(outcome.restartReason == nil)
                shop.expect(file.path, is: resource)
            case .isReadOver:
                #expect(outcome.restartReason == nil)
                shop.expect(file.path, is: resource)
            case .beginsAgain:
                #expect(outcome.restartReason?.contains(change.reason) == true, "\(outcome.reasons)")
                needed = file.totalBytes
                shop.expect(file.path, is: Resource(size: file.totalBytes, seed: file.totalBytes == 13_000_000 ? 3 : 1))
            }
            // Samples cost a little more than 1 MB; error pages and excess bytes of each response count too.
            let responses = Int64(shop.server.requests.count - earlier)
            let most = needed + change.dropped * Workshop.waste + 10_000 * responses
            #expect(shop.server.bodyBytes() - before <= most)
        }
    }

    @Test(
        "Resume: a refusing response keeps the held bytes, is not retried, and a good link resumes",
        arguments: [
            Row("A19: a login page", then: .htmlPage(), reason: "web page"),
            Row("A37: 403", then: .status(403), reason: "answered 403"),
            Row("A37: 404", then: .status(404), reason: "answered 404"),
            Row("A37: 410", then: .status(410), reason: "answered 410"),
            Row("A37: 401", then: .status(401), reason: "asks for credentials"),
            Row("A20: 400", then: .status(400), reason: "answered 400"),
            Row("A32: a 304 that was not asked for", then: .bodiless(304), reason: "304"),
            Row("A32: 204", then: .bodiless(204), reason: "204"),
        ])
    func keeps(row: Row) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            let (count, before) = (shop.server.requests.count, shop.server.bodyBytes())
            shop.server.always("/a", row.then)
            let outcome = try await shop.get("/a", engine: shop.engine())
            let codes: [String: DownloadError.Code] = [
                "A37: 401": .credentials, "A20: 400": .refused, "A32: a 304 that was not asked for": .refused,
                "A32: 204": .refused,
            ]
            #expect(outcome.error?.code == codes[row.name, default: .freshLink], "\(outcome.result)")
            #expect(outcome.says(row.reason ?? ""), "\(outcome.reasons)")
            #expect(outcome.retries == 0 && shop.server.requests.count == count + 1)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            #expect(try shop.held("a", of: resource) == Self.held)
            // The link works again: no held byte is fetched again.
            shop.server.always("/a", .honest)
            let again = try await shop.get("/a", engine: shop.engine())
            try shop.expect(again.file.path, is: resource)
            #expect(again.resumedAt == Self.held)
            #expect(shop.server.bodyBytes() - before <= Self.size - Self.held + 10_000)
        }
    }

    @Test("Resume: a 416 for a file that shrank leads to a fetch from the start (A11)")
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

    @Test("Resume: a 416 with the held length under the same validator means that the file is complete (A11)")
    func allThere() async throws {
        try await Workshop.run(Workshop.counting) { shop in
            // The length is known only at the end of the body, which never arrives.
            let resource = Resource(size: Self.held, framing: .chunked(10_000))
            shop.server.serve("/a", resource)
            shop.server.script(
                "/a",
                [
                    Behaviour { answer, _, _ in
                        answer.body.removeLast()
                        answer.ending = .hang
                    }
                ])
            let manager = shop.manager(engine: shop.engine())
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(Self.held, download)
            await manager.shutdown()
            #expect(try shop.held("a", of: resource) == Self.held)
            let before = shop.server.bodyBytes()
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.last?.status == 416)
            #expect(shop.server.bodyBytes() - before < 10_000)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Resume: a 416 without a length is followed by a request for the whole file (A11)")
    func noLength() async throws {
        try await Workshop.run(Workshop.counting) { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            let before = shop.server.bodyBytes()
            shop.server.script("/a", [.unsatisfiable(length: nil, endlessBody: true)])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes() - before <= Self.size + Workshop.waste)
        }
    }

    @Test(
        "Resume: a 200 of exactly the held length is another file without the same identity (A12)",
        arguments: [true, false])
    func equalLength(hasTags: Bool) async throws {
        try await Workshop.run { shop in
            let (etag, other) = hasTags ? ("\"a\"", "\"b\"") : (nil, nil)
            shop.server.serve("/a", Resource(size: Self.size, etag: etag, lastModified: nil))
            try await shop.interrupt("/a", after: Self.held)
            var new = Resource(size: Self.held, seed: 2, etag: other, lastModified: nil)
            new.ranges = .off
            shop.server.serve("/a", new)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: new)
            #expect(outcome.restartReason != nil)
            #expect(try outcome.file.proof == .single)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Resume: a validator that is not strong is never sent in If-Range, and samples decide (A15)",
        arguments: [
            Resource(size: 20_000_000, etag: "W/\"1\"", lastModified: nil),
            Resource(size: 20_000_000, etag: nil, lastModified: Date(timeIntervalSinceNow: 3600)),
            Resource(size: 20_000_000, etag: "W/\"1\"", lastModified: Resource.defaultDate),
        ])
    func weak(resource: Resource) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            let before = shop.server.bodyBytes()
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(try outcome.file.proof == .sampled)
            #expect(outcome.says("samples matched"))
            #expect(shop.server.requests.allSatisfy { $0.ifRange == nil })
            // The server may see the end of one request only after the start of the next.
            #expect(shop.server.traffic.peakRequests <= 2)
            #expect(shop.server.bodyBytes() - before <= 15_000_000 + 2 * Workshop.waste)
        }
    }

    @Test("Resume: without a validator the file is fetched from the start with the reason (A15)")
    func unvalidated() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason?.contains("no validator") == true)
            #expect(shop.server.requests.allSatisfy { $0.range == nil && $0.ifRange == nil })
            #expect(try outcome.file.proof == .single)
        }
    }

    @Test("Strict: neither a weak validator nor a body that ends by close is proof (A15, A26)")
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

    @Test(
        "ETag: an invalid one is ignored, and Last-Modified decides (A16)",
        arguments: ["abc", "\"" + String(repeating: "e", count: 1100) + "\""])
    func badTag(tag: String) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size, etag: tag)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: Self.held)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt == Self.held)
            #expect(shop.server.requests.last?.ifRange == "Mon, 01 Jan 2024 00:00:00 GMT")
        }
    }

    @Test(
        "Cut body: after a close by FIN every received byte is kept, and none is sent twice (A21)",
        arguments: [[2_345_678], [1_000_000, 1_000_001, 3_000_000]])
    func cut(lengths: [Int64]) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            shop.server.script("/a", lengths.map { .cut(after: $0) })
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.bodyBytes() == Self.size)
            #expect(outcome.retries == lengths.count)
        }
    }

    @Test("Chunked body: a missing last chunk is no end of the body, and the download is retried (A25)")
    func lastChunk() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.missingLastChunk], then: .chunked())
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count > 1)
            #expect(outcome.says("before the end"))
            #expect(outcome.restartReason == nil)
        }
    }
}
