import FerryCore
import FerryTesting
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Digests of pieces", .timeLimit(.minutes(30)))
struct PieceTests {
    private static let pieceBytes: ByteCount = 1_000_000

    private static func pieces(of resource: Resource, _ algorithm: DigestAlgorithm = .sha256) throws -> PieceDigests {
        let starts = stride(from: 0, to: resource.size, by: Int(pieceBytes))
        let digests = starts.flatMap { start in
            ByteDigest.of(resource.bytes(start..<min(resource.size, start + pieceBytes)), algorithm)
        }
        return try #require(PieceDigests(algorithm: algorithm, pieceBytes: pieceBytes, digests: digests))
    }

    /// The ranges that were requested after the first `count` requests.
    private static func ranges(_ shop: Workshop, _ path: String, after count: Int) -> [String?] {
        shop.server.requests.filter { $0.path == path }.dropFirst(count).map(\.range)
    }

    @Test("Pieces: alone they prove a file, on the disk or in memory", arguments: [20_500_000, 2_000_000, 300])
    func proof(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            let pieces = try Self.pieces(of: resource, .sha1)
            let file = try await shop.get("/a", { _ in }, { ($0.pieces, $0.trust.strict) = (pieces, true) }).file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
        }
    }

    @Test(
        "Pieces: of a file that a server damaged once, the damaged piece alone is fetched again",
        arguments: [true, false])
    func damagedOnce(hasWhole: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_500_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.corrupt(at: 20_100_000)])
            let pieces = try Self.pieces(of: resource)
            let whole = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", { _ in }) {
                ($0.pieces, $0.checksum, $0.maxConnections) = (pieces, hasWhole ? whole : nil, 1)
            }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest && outcome.restartReason == nil)
            #expect(Self.ranges(shop, "/a", after: 1) == ["bytes=20000000-20499999"])
        }
    }

    @Test("Pieces: a mirror that gave damaged bytes is left, and only those are fetched again")
    func damagingMirror() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            // The source is gone while the mirror has to bring the rest, and back when the file is complete.
            let gone = Behaviour.status(503, retryAfter: nil)
            shop.server.script("/a", [.cut(after: 8_000_000)] + Array(repeating: gone, count: 2))
            shop.server.always("/m", .corrupt(at: 15_500_000))
            let pieces = try Self.pieces(of: resource)
            let mirror = try DownloadURL(shop.server.url("/m"))
            let outcome = try await shop.get("/a", { _ in }) {
                ($0.pieces, $0.maxConnections) = (pieces, 1)
                $0.sources.append(mirror)
            }
            shop.expect(try outcome.file.path, is: resource)
            #expect(try outcome.file.proof == .digest)
            #expect(Self.ranges(shop, "/m", after: 0).contains { $0?.hasSuffix("-19999999") == true })
            #expect(Self.ranges(shop, "/a", after: 3) == ["bytes=15000000-15999999"])
        }
    }

    @Test("Pieces: a source that damages a piece each time fails at last, and nothing is published")
    func damagedAlways() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .corrupt(at: 3_000_000))
            let pieces = try Self.pieces(of: resource)
            let outcome = try await shop.get("/a", { _ in }, { ($0.pieces, $0.maxConnections) = (pieces, 1) })
            #expect(outcome.error?.code == .checksum)
            #expect(outcome.error?.message == "1 of 20 pieces of the file do not match their digests")
            #expect(shop.names == ["a.part", "a.part.ferry"])
            #expect(Self.ranges(shop, "/a", after: 1) == Array(repeating: "bytes=3000000-3999999", count: 2))
            // A server that is right again has to send that piece only.
            shop.server.serve("/a", resource)
            shop.server.always("/a", .honest)
            let count = Self.ranges(shop, "/a", after: 0).count
            let second = try await shop.get("/a", { _ in }, { $0.pieces = pieces })
            shop.expect(try second.file.path, is: resource)
            #expect(Self.ranges(shop, "/a", after: count).contains("bytes=3000000-3999999"), "\(second.events)")
        }
    }

    @Test("Pieces: those of a file of another size do not prove it, and do not spoil a file with its digest")
    func otherSize() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            let pieces = try Self.pieces(of: Resource(size: 18_000_000))
            let alone = try await shop.get("/a", { _ in }, { $0.pieces = pieces })
            #expect(alone.error?.code == .checksum && alone.error?.message.contains("20000000 bytes") == true)
            let whole = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let file = try await shop.get("/a", { _ in }, { ($0.pieces, $0.checksum) = (pieces, whole) }).file
            shop.expect(file.path, is: resource)
        }
    }
}
