import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// A server's behaviour, request by request, and the bytes that it may cost.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var behaviours: [Behaviour]
    var then: Behaviour
    /// Text that an event or the error contains.
    var reason: String?
    /// The largest number of body bytes that the server may send.
    var served: Int64
    var connections: Int
    var testDescription: String { name }

    init(
        _ name: String, _ behaviours: [Behaviour] = [], then: Behaviour = .honest, reason: String? = nil,
        served: Int64 = 21_000_000, connections: Int = 1
    ) {
        self.name = name
        self.behaviours = behaviours
        self.then = then
        self.reason = reason
        self.served = served
        self.connections = connections
    }
}

/// Fresh downloads from servers that misbehave.
@Suite("Misbehaving servers", .timeLimit(.minutes(30)))
struct TrustRowTests {
    static let survivable: [Row] = [
        Row(
            "A2: ignores Range on some connections", [.honest, .ignoreRange, .honest, .ignoreRange],
            served: 60_000_000, connections: 16),
        Row("A5: a 206 that ends early", [.cut(after: 4_000_000), .endsEarly(after: 1_000_000)], reason: "matched"),
        Row("A6: a 206 that ends late", [.cut(after: 4_000_000)], then: .endsLate(by: 1_000_000), reason: "matched"),
        Row(
            "A6: a body longer than asked", [.cut(after: 4_000_000)], then: .whenRanged(.excess(1000)),
            reason: "matched"),
        Row("A10: a 206 that nobody asked for", [.partialUnasked()]),
        Row(
            "A10: a 206 that nobody asked for, of some of it", [.partialUnasked(contentRange: "bytes 0-999/20000000")],
            reason: "disagree"),
        Row("A22: a body longer than its length", [.excess(1000)]),
        Row("A21: closed in the middle", [.cut(after: 6_000_000)], reason: "closed before the end"),
        Row("A21: reset in the middle", [.cut(after: 6_000_000, .reset)], reason: "before the end"),
        Row("A31: many 1xx", [.informational(20)]),
        Row("A31: a hundred thousand 1xx", [.informational(100_000)]),
        Row("A33: twenty redirects", [], then: .redirectChain(19)),
        Row(
            "A38: 408, then 425, then 429", [.status(408), .status(425), .status(429, retryAfter: "0")],
            reason: "answered 429"),
        Row("A38: 500, then 502, then 504", [.status(500), .status(502), .status(504)], reason: "answered 504"),
        Row("A38: a Retry-After that is no time", [.status(503, retryAfter: "soon")], reason: "answered 503"),
        Row("A38: a Retry-After in the past", [.status(503, retryAfter: Date.distantPast)], reason: "answered 503"),
        Row("A44: a connection that is closed at once", [.drop(), .drop(.reset)], reason: "before an answer"),
        Row("A16: an ETag without quotes", [], then: .etag("abc")),
        Row("A16: an ETag of 2 KiB", [], then: .etag("\"" + String(repeating: "e", count: 2048) + "\"")),
        Row("A18: encoded although identity was asked", [], then: .contentEncoding("gzip")),
        Row(
            "A20: an error page before the file", [.status(503, String(repeating: "sorry ", count: 500_000))],
            reason: "answered 503", served: 25_000_000),
        Row(
            "A25: chunks that are cut in the middle", [.chunked(10_000).and(.cut(after: 4_567_890))],
            then: .chunked(10_000), reason: "before the end", served: 26_000_000),
    ]

    @Test("Fresh download: each survivable misbehaviour gives the right file without a restart", arguments: survivable)
    func survives(row: Row) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", row.behaviours, then: row.then)
            let outcome = try await shop.get(
                "/a", engine: shop.engine(), { _ in }, { $0.maxConnections = row.connections })
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.names == ["a"])
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/a") <= row.served)
            if let reason = row.reason { #expect(outcome.says(reason), "\(outcome.reasons)") }
        }
    }

    static let refused: [Row] = [
        Row("A9, A10: a 206 that nobody asked for, each time", then: .partialUnasked(contentRange: "bytes */3000000"))
            .saying("impossible Content-Range"),
        Row("A20: 400 with a body", then: .status(400)).saying("answered 400"),
        Row("A20: 418 with a large body", then: .status(418, String(repeating: "tea ", count: 500_000)))
            .saying("answered 418"),
        Row("A24: an impossible length", then: .contentLength("6x")).saying("unusable answer"),
        Row("A24: two lengths", then: .secondContentLength("17")).saying("unusable answer"),
        Row("A24: a negative length", then: .contentLength("-1")).saying("unusable answer"),
        Row("A24: a length beyond everything", then: .contentLength("99999999999999999999"))
            .saying("unusable answer"),
        Row("A24: both framings", then: .lengthAndChunked).saying("unusable answer"),
        Row("A24: ICY", then: .raw("ICY 200 OK\n\nmusic")).saying("unusable answer"),
        Row("A30: garbage", then: .raw("what is this\n\n")).saying("unusable answer"),
        Row("A30: HTTP/0.9", then: .raw("<html>here I am</html>")).saying("unusable answer"),
        Row("A30: control bytes in a field", then: .field("X-Odd", "a\u{1}\u{7}b")).saying("unusable answer"),
        Row("A16: an ETag with control bytes", then: .etag("\"a\u{1}b\"")).saying("unusable answer"),
        Row("A30: a head that never ends", then: .endlessHead).saying("unusable answer"),
        Row("A30: too many fields", then: .manyFields(2000, valueBytes: 1000)).saying("unusable answer"),
        Row("A30: a field that is too long", then: .manyFields(1, valueBytes: 1_000_000)).saying("unusable answer"),
        Row("A32: 204", then: .bodiless(204)).saying("204"),
        Row("A32: 101", then: .bodiless(101)),
        Row("A32: a 304 that was not asked for", then: .bodiless(304)).saying("304"),
        Row("A33: a redirect loop", then: .redirectLoop).saying("circles"),
        Row("A33: twenty-one redirects", then: .redirectChain(21)).saying("more than 20 redirects"),
        Row("A33: a blank Location", then: .redirect(to: "")).saying("no address"),
        Row("A33: no Location", then: .bodiless(302, fields: [Field("Content-Length", "0")])).saying("no address"),
        Row("A33: two Locations", then: .redirectTwice(to: "/x", and: "/y")).saying("more than one place"),
        Row("A34: to a file", then: .redirect(to: "file:///etc/passwd")).saying("cannot be followed"),
        Row("A34: to ftp", then: .redirect(to: "ftp://127.0.0.1/a")).saying("cannot be followed"),
        Row("A34: to data", then: .redirect(to: "data:text/plain,hello")).saying("cannot be followed"),
        Row("A37: 403", then: .status(403)).saying("answered 403"),
        Row("A37: 404", then: .status(404)).saying("answered 404"),
        Row("A37: 410", then: .status(410)).saying("answered 410"),
    ]

    @Test("Fresh download: each refused misbehaviour ends without a retry, and no file is left", arguments: refused)
    func refuses(row: Row) async throws {
        try await Workshop.run(Workshop.counting) { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.script("/a", row.behaviours, then: row.then)
            let outcome = try await shop.get("/a", engine: shop.engine())
            #expect(outcome.error?.code == .refused, "\(outcome.result)")
            #expect(outcome.retries == 0)
            #expect(shop.names == [])
            #expect(shop.server.bodyBytes() <= row.served)
            #expect(shop.server.requests.count <= 22)
            if let reason = row.reason {
                #expect(outcome.error?.message.contains(reason) == true, "\(outcome.result)")
            }
        }
    }

    @Test(
        "Chunked body: an invalid chunk size is refused after one request, and the part file stays (A27)",
        arguments: ["zz", "-5", "fffffffffffffffff", "0x10", ""], [0, 2_000_000] as [Int64])
    func chunkSizes(line: String, after count: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .badChunkSize(line, after: count))
            let outcome = try await shop.get("/a", engine: shop.engine())
            #expect(outcome.error?.code == .refused, "\(outcome.result)")
            #expect(outcome.says("unusable answer"))
            #expect(outcome.retries == 0 && shop.server.requests.count == 1)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            // Bytes in the same piece as the invalid size may be lost.
            #expect(try shop.held("a", of: resource) <= count)
        }
    }
}

extension Row {
    /// The same row with a text that the error contains; a refused body is not read.
    fileprivate func saying(_ reason: String) -> Row {
        var row = self
        row.reason = reason
        row.served = 3 * Workshop.waste
        return row
    }
}
