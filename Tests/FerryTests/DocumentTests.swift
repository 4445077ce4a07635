import Ferry
import FerryTesting
import Foundation
import Testing

/// Error documents of services, with status 200 and without a validator, replaced held bytes and became the file.
@Suite("A document in place of a file", .timeLimit(.minutes(30)))
struct DocumentTests {
    static let json = #"{"error":"busy"}"#
    static let weakResource = Resource(size: 20_000_000, etag: "W/\"1\"")
    static let resourceWithDate = Resource(size: 20_000_000, etag: nil)

    @Test(
        "Document: on a resume it is a dead link, and held bytes are resumed by a good link (A61)",
        arguments: [
            ("application/json", json), ("application/json", "[" + String(repeating: " ", count: 2_000_000) + "]"),
            ("text/plain", "too many requests"), ("application/xml", "<?xml version=\"1.0\"?><Error/>"),
            ("application/octet-stream", ""), (nil, "no"),
        ] as [(String?, String)])
    func resumed(type: String?, text: String) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/file", resource)
            try await shop.interrupt("/file", after: 8_000_000)
            shop.server.always("/file", .document(text, type: type))
            let outcome = try await shop.get("/file")
            #expect(outcome.error?.code == .freshLink, "\(outcome.result)")
            #expect(outcome.error?.message.contains("instead of the file") == true)
            #expect(shop.names == ["file.part", "file.part.ferry"])
            shop.server.always("/file", .honest)
            let good = try await shop.get("/file")
            try shop.expect(good.file.path, is: resource)
            #expect(good.resumedAt == 8_000_000)
        }
    }

    @Test(
        "Document: a file of another length under the same validator is a dead link, and a good link resumes",
        arguments: [0, 5, 15_000_000, 21_000_000] as [Int64],
        [Resource(size: 20_000_000), resourceWithDate, weakResource])
    func sameValidator(size: Int64, resource: Resource) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/file", resource)
            try await shop.interrupt("/file", after: 8_000_000)
            shop.server.always("/file", .version { $0.size = size })
            let outcome = try await shop.get("/file")
            #expect(outcome.error?.code == .freshLink, "\(outcome.result)")
            #expect(outcome.error?.message.contains("under the same validator") == true)
            #expect(shop.names == ["file.part", "file.part.ferry"])
            shop.server.always("/file", .honest)
            let good = try await shop.get("/file")
            try shop.expect(good.file.path, is: resource)
            #expect(good.resumedAt == 8_000_000)
        }
    }

    @Test("Document: an empty file under the ETag of the finished one is a dead link")
    func finished() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 2_000_000)
            shop.server.serve("/file", resource)
            let file = try await shop.get("/file").file
            let empty = Behaviour.document("", type: resource.contentType)
            shop.server.always("/file", empty.and(.etag(resource.etag)))
            let outcome = try await shop.get("/file")
            #expect(outcome.error?.code == .freshLink, "\(outcome.result)")
            #expect(shop.names == ["file"])
            try shop.expect(file.path, is: resource)
        }
    }

    @Test("Document: --accept-html takes one in place of held bytes")
    func accepted() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/file", Resource(size: 20_000_000))
            try await shop.interrupt("/file", after: 8_000_000)
            shop.server.always("/file", .document(Self.json, type: "application/json"))
            let file = try await shop.get("/file", { _ in }, { $0.trust.acceptsHTML = true }).file
            #expect(FileManager.default.contents(atPath: file.path) == Data(Self.json.utf8))
        }
    }

    @Test("Document: a resume that gets 416 with the length 0 goes on if the whole has an equal ETag (A60)")
    func vanished() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/file", resource)
            try await shop.interrupt("/file", after: 8_000_000)
            shop.server.script("/file", [.unsatisfiable(length: 0).and(.etag(nil))], then: .honest)
            let outcome = try await shop.get("/file")
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test(
        "Document: as answer to further connections it ends these, and the others complete the file (A60)",
        arguments: [
            ConnectionLimit.Excess.document(type: "application/json", text: json),
            .document(type: "text/plain", text: ""),
            .unsatisfied,
        ])
    func furtherConnections(excess: ConnectionLimit.Excess) async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 8_000_000
        configuration.limit = ConnectionLimit(2, excess)
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/a") < resource.size + resource.size / 2)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Resume: a changed file whose ranges are sent as text/html is fetched anew (A70)")
    func partsAsHTML() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 20_000_000))
            try await shop.interrupt("/a.bin", after: 8_000_000)
            let changed = Resource(size: 21_000_000, seed: 2, lastModified: Date(timeIntervalSince1970: 1_710_000_000))
            shop.server.serve("/a.bin", changed)
            shop.server.always("/a.bin", .partType("text/html").and(.ignoreIfRange))
            let outcome = try await shop.get("/a.bin")
            try shop.expect(outcome.file.path, is: changed)
            #expect(outcome.restartReason != nil)
        }
    }

    @Test("Resume: with another ETag for each response, equal samples of equal date and length prove the file (A63)")
    func ownTags() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .ownTag.and(.cut(after: 5_000_000)))
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(try outcome.file.proof == .sampled)
        }
    }

    @Test("Expired link: a target that answers 400 is left for the original URL (A62)", arguments: [false, true])
    func expired(hasTags: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/signed", resource)
            shop.server.serve("/fresh", resource)
            shop.server.script("/link", [.redirect(to: "/signed")], then: .redirect(to: "/fresh"))
            shop.server.serve("/link", resource)
            if !hasTags { for path in ["/signed", "/fresh"] { shop.server.serve(path, resource.weaklyTagged) } }
            shop.server.script("/signed", [.cut(after: 6_000_000)], then: .status(400))
            let outcome = try await shop.get("/link", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("Connection limit: Retry-After for surplus ones does not hold back the one that is served (A64)")
    func surplus() async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 8_000_000
        configuration.limit = ConnectionLimit(1, .status(503, retryAfter: "600"))
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 32_000_000)])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.traffic.requests.contains { $0.status == 503 })
            let delays = outcome.events.compactMap { if case .retrying(_, let delay, _) = $0 { delay } else { nil } }
            #expect(delays.allSatisfy { $0 < .seconds(60) })
        }
    }

    @Test("Status: a Retry-After date counts on the clock of the server, which may be an hour fast (A65)")
    func fastClock() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.busy(until: 0, ahead: 3600)], then: .honest)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 1)
        }
    }

    @Test(
        "Connection refused: a one-shot run ends after 3 retries, and after as many as the request says (A66)",
        arguments: [nil, 5])
    func refused(attempts: Int?) async throws {
        try await Workshop.run { shop in
            let port = try ClosedPort()
            let url = try DownloadURL("http://127.0.0.1:\(port.port)/a")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.sources = [url]
                $0.maxRetries = attempts
            }
            #expect(outcome.error?.code == .network && outcome.retries == attempts ?? 3)
            #expect(shop.names == [])
        }
    }

    @Test("Status: a 203 with the whole file is taken (A67)")
    func nonAuthoritative() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .status(as: 203))
            shop.expect(try await shop.get("/a").file.path, is: resource)
        }
    }

    @Test("Status: a 202 with Retry-After is retried until the file is there (A68)")
    func accepted202() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.status(202, retryAfter: "0")], then: .honest)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 1)
        }
    }
}

extension Resource {
    fileprivate var weaklyTagged: Resource {
        var copy = self
        copy.etag = etag.map { "W/" + $0 }
        return copy
    }
}
