import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Mirrors", .timeLimit(.minutes(30)))
struct MirrorTests {
    private func mirror(_ shop: Workshop, _ path: String, host: String? = nil) throws -> DownloadURL {
        try DownloadURL(shop.server.url(path, host: host))
    }

    @Test("Mirrors: after samples match, a mirror replaces a first source that is gone in the middle")
    func takesOver() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", Resource(size: 20_000_000, etag: "\"other\""))
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) { $0.sources.append(mirror) }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .sampled)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test(
        "Mirrors: one that the server names with Link takes over like a given one, after samples have matched",
        arguments: [false, true])
    func named(byRedirect: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            for path in ["/a", "/target"] { shop.server.serve(path, resource) }
            shop.server.serve("/m", Resource(size: 20_000_000, etag: "\"other\""))
            shop.server.serve("/wrong", Resource(size: 20_000_000, seed: 6))
            let link = "</wrong>; rel=duplicate; pri=1, </m>; rel=\"duplicate\"; pri=2"
            if byRedirect {
                shop.server.script(
                    "/a", [.all(.redirect(to: "/target"), .field("Link", link))], then: .status(404))
                shop.server.script("/target", [.cut(after: 5_000_000)], then: .status(404))
            } else {
                shop.server.script("/a", [.all(.field("Link", link), .cut(after: 5_000_000))], then: .status(404))
            }
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in })
            shop.expect(try outcome.file.path, is: resource)
            #expect(try outcome.file.proof == .sampled)
            #expect(!shop.server.traffic.requests(for: "/m").isEmpty)
        }
    }

    @Test("Mirrors: a mirror with another file is dropped, and no restart follows")
    func disagrees() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            shop.server.serve("/m", Resource(size: 20_000_000, seed: 6))
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) { $0.sources.append(mirror) }
            #expect(outcome.error?.code == .freshLink)
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a.part", "a.part.ferry"])
        }
    }

    /// Else a server could have its own bytes taken for those of any URL that it names.
    @Test("Mirrors: a URL that a server named is not known from the journal of its download")
    func notRecorded() async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: 20_000_000)
            resource.fields.append(Field("Link", "</m>; rel=duplicate"))
            shop.server.serve("/a", resource)
            let other = Resource(size: 20_000_000, seed: 6)
            shop.server.serve("/m", other)
            try await shop.interrupt("/a", after: 5_000_000)
            let outcome = try await shop.get("/m")
            try shop.expect(outcome.file.path, is: other)
            #expect(outcome.resumedAt == nil && shop.names.contains("a.part.ferry"))
        }
    }

    enum Description: CaseIterable { case right, wrongDigest, otherSize }

    @Test(
        "Mirrors: a Metalink document that the server names gives mirrors and a digest, if it is of that file",
        arguments: Description.allCases)
    func described(_ description: Description) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", Resource(size: 20_000_000, etag: "\"other\""))
            let digest = description == .right ? shop.sha256(resource) : String(repeating: "0", count: 64)
            let text = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="other"><url>http://other.example/</url></file>
                <file name="a"><size>\(description == .otherSize ? 1 : resource.size)</size><hash type="sha-256">\(digest)</hash>
                <url>\(shop.server.url("/a"))</url><url>\(shop.server.url("/m"))</url></file></metalink>
                """
            var document = Resource(size: Int64(text.utf8.count))
            document.literal = Array(text.utf8)
            shop.server.serve("/a.meta4", document)
            let link = Behaviour.field("Link", "</a.meta4>; rel=describedby; type=\"application/metalink4+xml\"")
            let rest: Behaviour = description == .right ? .status(404) : .honest
            shop.server.script("/a", [.all(link, .stall(after: 5_000_000))], then: rest)
            let manager = shop.kept()
            let events = manager.events
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            if description == .otherSize {
                await shop.reach(5_000_000, download)
            } else {
                for await event in events { if case .note(let text) = event.kind, text.contains("describes") { break } }
            }
            await shop.server.dropConnections()
            switch description {
            case .right:
                let file = try await download.finished()
                shop.expect(file.path, is: resource)
                #expect(file.proof == .digest && !shop.server.traffic.requests(for: "/m").isEmpty)
            case .wrongDigest:
                let error = await #expect(throws: DownloadError.self) { try await download.finished() }
                #expect(error?.code == .checksum && !shop.names.contains("a") && shop.names.contains("a.part"))
            case .otherSize:
                #expect(try await download.finished().proof == .strong)
            }
            await manager.shutdown()
        }
    }

    @Test("Expected size: a source with another one is left for the next, and without one the download fails")
    func otherSize() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", Resource(size: 3_000_001))
            shop.server.serve("/m", resource)
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", { _ in }) {
                $0.sources.append(mirror)
                $0.expectedBytes = resource.size
            }
            shop.expect(try outcome.file.path, is: resource)
            let alone = try await shop.get("/a", { _ in }) {
                ($0.expectedBytes, $0.destination) = (resource.size, .file(shop.path("alone")))
            }
            #expect(alone.error?.code == .checksum && alone.error?.message.contains("3000000 are expected") == true)
        }
    }

    @Test("Expected size: a body without a length that ends elsewhere is not published")
    func otherEnd() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.always("/a", .chunked())
            for (size, isRight) in [(3_000_000, true), (2_999_999, false), (3_000_001, false)] as [(Int64, Bool)] {
                let outcome = try await shop.get("/a", { _ in }) {
                    ($0.expectedBytes, $0.destination) = (size, .file(shop.path("f\(size)")))
                }
                #expect((outcome.error == nil) == isRight, "\(size)")
                #expect(shop.names.contains("f\(size)") == isRight)
            }
        }
    }

    @Test("Mirrors: a mirror of another origin gets neither credentials nor the user's headers")
    func secrets() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            shop.server.script("/a", [.basicAuth("me", "secret"), .cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m", host: "localhost")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.sources.append(mirror)
                $0.credentials = Credentials(user: "me", password: "secret")
                if let name = HTTPField.Name("X-Token") { $0.headers[name] = "abc" }
            }
            try shop.expect(outcome.file.path, is: resource)
            let first = shop.server.traffic.requests(for: "/a")
            #expect(first.allSatisfy { $0.head["X-Token"] == "abc" })
            #expect(first.map { $0.head["Authorization"] != nil }.first == false)
            #expect(first.dropFirst().allSatisfy { $0.head["Authorization"] != nil })
            let others = shop.server.traffic.requests(for: "/m")
            #expect(!others.isEmpty)
            #expect(others.allSatisfy { $0.head["Authorization"] == nil && $0.head["X-Token"] == nil })
        }
    }

    @Test("Mirrors: the next run resumes the mirror's file, although the first source has another one")
    func becamePrimary() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000, etag: "\"of the mirror\"")
            shop.server.serve("/m", resource)
            let mirror = try mirror(shop, "/m")
            // The first source is missing from the start.
            shop.server.script("/m", [.stall(after: 5_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(
                try shop.request("/a") {
                    $0.sources.append(mirror)
                    $0.maxConnections = 1
                })
            await shop.reach(5_000_000, download)
            await manager.shutdown()
            // Now the first source has another file, which must not matter.
            shop.server.always("/m", .honest)
            shop.server.serve("/a", Resource(size: 20_000_000, seed: 5))
            let outcome = try await shop.get("/a", { _ in }) { $0.sources.append(mirror) }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("Mirrors: a mirror replaces a first source that resets every connection")
    func unreachable() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/m", resource)
            shop.server.always("/a", .drop(.reset))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxRetries = 2 }) {
                $0.sources.append(mirror)
            }
            try shop.expect(outcome.file.path, is: resource)
        }
    }

    /// Downloads `/a` over one connection, with `/m` as its mirror, to a file with this checksum.
    private func get(
        _ shop: Workshop, _ checksum: String, engine: EngineProvider? = nil
    ) async throws -> Workshop.Outcome {
        let (mirror, checksum) = (try mirror(shop, "/m"), try Checksum(parsing: checksum))
        return try await shop.get("/a", engine: engine, { _ in }) {
            ($0.checksum, $0.maxConnections) = (checksum, 1)
            $0.sources.append(mirror)
        }
    }

    @Test("Mirrors: with a checksum, a mirror with other bytes is left, and the download needs no second run")
    func disagreesWithDigest() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", Resource(size: 20_000_000, seed: 6))
            // The mirror is asked for the rest, and the first source answers again afterwards.
            shop.server.script("/a", [.cut(after: 5_000_000), .status(503)])
            let outcome = try await get(shop, "sha256:" + shop.sha256(resource), engine: shop.engine())
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(outcome.notes("/m) is dropped"))
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/m") <= 128 << 10)
        }
    }

    @Test("Mirrors: what a mirror sent is fetched from the first source if the file does not have its checksum")
    func wrongLater() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            shop.server.always("/m", .corrupt(at: 15_000_000))
            shop.server.script("/a", [.cut(after: 5_000_000), .status(503)])
            let outcome = try await get(shop, "sha256:" + shop.sha256(resource), engine: shop.engine())
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(outcome.notes("is dropped"))
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Mirrors: a mirror with the right bytes replaces a first source without",
        arguments: [10_000, 3_000_000] as [Int64])
    func wrongFirst(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", Resource(size: size, seed: 6))
            shop.server.serve("/m", resource)
            let outcome = try await get(shop, "sha256:" + shop.sha256(resource))
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Mirrors: one with the right bytes replaces a first source without, although neither sends ranges",
        arguments: [10_000, 3_000_000] as [Int64])
    func wrongFirstWithoutRanges(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", Resource(size: size, seed: 6))
            shop.server.serve("/m", resource)
            for path in ["/a", "/m"] { shop.server.always(path, .ignoreRange) }
            let outcome = try await get(shop, "sha256:" + shop.sha256(resource))
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Mirrors: of three without ranges, all wrong, each is fetched once, and the checksum is the error")
    func allWrongWithoutRanges() async throws {
        try await Workshop.run { shop in
            for (seed, path) in ["/a", "/m", "/n"].enumerated() {
                shop.server.serve(path, Resource(size: 3_000_000, seed: UInt64(seed + 5)))
                shop.server.always(path, .ignoreRange)
            }
            let mirrors = try ["/m", "/n"].map { try mirror(shop, $0) }
            let outcome = try await shop.get("/a", { _ in }) {
                ($0.checksum, $0.maxConnections) = (try? Checksum(parsing: DigestTests.wrong), 1)
                $0.sources += mirrors
            }
            #expect(outcome.error?.code == .checksum)
            #expect(!shop.names.contains("a"))
            // One body for the samples, of which little is read, and the file.
            #expect(shop.server.bodyBytes("/n") <= 6_000_000)
        }
    }

    @Test("Mirrors: a wrong checksum costs samples of an equal mirror, and no second download")
    func wrongChecksum() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            let outcome = try await get(shop, DigestTests.wrong)
            #expect(outcome.error?.code == .checksum)
            #expect(shop.server.bodyBytes("/m") <= 1 << 20)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            // The mark stays although samples were compared after it was written.
            let again = try await shop.get("/a", { _ in }) {
                $0.checksum = try? Checksum(parsing: "sha256:" + shop.sha256(resource))
            }
            #expect(try again.file.proof == .digest)
        }
    }
}
