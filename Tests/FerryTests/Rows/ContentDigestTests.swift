import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// A wrong digest of one message (RFC 9530 Content-Digest).
@Suite("Content-Digest mismatch (A45)", .timeLimit(.minutes(30)))
struct ContentDigestTests {
    private static let size: Int64 = 6_000_000

    /// The right Content-Digest of some bytes.
    private static func right(_ resource: Resource, _ range: Range<Int64>, sha512: Bool = false) -> Behaviour {
        let bytes = ByteDigest.of(resource.bytes(range), sha512 ? .sha512 : .sha256)
        return .field("Content-Digest", "sha-\(sha512 ? 512 : 256)=:\(Data(bytes).base64EncodedString()):")
    }

    @Test(
        "Content-Digest: after a mismatch that range alone is fetched again as a counted attempt (A45)",
        arguments: [false, true])
    func part(isCorrupt: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            // Either the digest or the bytes are wrong.
            let wrong =
                isCorrupt
                ? Self.right(resource, 2_000_000..<Self.size).and(.corrupt(at: 4_000_000)) : .wrongContentDigest
            shop.server.script("/a", [.cut(after: 2_000_000), wrong])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.map(\.range) == [nil, "bytes=2000000-5999999", "bytes=2000000-5999999"])
            #expect(outcome.retries == 2)
            #expect(outcome.says("do not match its Content-Digest: expected sha-256="), "\(outcome.reasons)")
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Content-Digest: after a mismatch a response with the whole file is fetched again (A45)",
        arguments: [400_000, 6_000_000] as [Int64])
    func whole(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [Self.right(resource, 0..<size).and(.corrupt(at: 1000))])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 1)
            #expect(shop.server.bodyBytes() == 2 * size)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Content-Digest: after a mismatch a chunked response of unknown length is fetched again (A45)")
    func chunked() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size, framing: .chunked(10_000))
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.wrongContentDigest])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 1)
        }
    }

    @Test("Content-Digest: a right digest, or one of a weak algorithm, causes no retry (A45)", arguments: [0, 1, 2])
    func fine(kind: Int) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            let digest: Behaviour =
                switch kind {
                case 0: Self.right(resource, 0..<Self.size)
                case 1: Self.right(resource, 0..<Self.size, sha512: true)
                default: .field("Content-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:")
                }
            shop.server.always("/a", digest)
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 0 && shop.server.bodyBytes() == Self.size)
        }
    }

    @Test("Content-Digest: a response cut before its end is not verified, and its bytes are kept (A45)")
    func cut() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.wrongContentDigest.and(.cut(after: 2_000_000))])
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.bodyBytes() == Self.size)
            #expect(!outcome.says("Content-Digest"))
        }
    }

    @Test("Content-Digest: repeated mismatches give way to the file's own digest, and to the word none (A45)")
    func outvoted() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .wrongContentDigest)
            let checksum = Checksum(
                algorithm: .sha256, bytes: ByteDigest.of(resource.bytes(0..<Self.size), .sha256))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.checksum = checksum })
            try shop.expect(outcome.file.path, is: resource)
            #expect(try outcome.file.proof == .digest)
            #expect(outcome.notes("only the file's own digest counts now"))
            shop.server.serve("/b", resource)
            shop.server.always("/b", .wrongContentDigest)
            let taken = try await shop.get(
                "/b", engine: shop.engine(), { _ in }, { $0.ignoresEarlierChecksum = true })
            try shop.expect(taken.file.path, is: resource)
            #expect(taken.retries == 0)
        }
    }

    @Test("Content-Digest: repeated mismatches are an error with both digests, and held bytes can be resumed (A45)")
    func always() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 2_000_000)
            let before = shop.server.bodyBytes()
            shop.server.always("/a", .wrongContentDigest)
            let outcome = try await shop.get("/a", engine: shop.engine())
            #expect(outcome.error?.code == .checksum, "\(outcome.result)")
            let expected = "sha-256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            #expect(outcome.error?.message.contains("expected \(expected), got sha-256=") == true)
            #expect(shop.server.bodyBytes() - before == 3 * 4_000_000)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            #expect(try shop.held("a", of: resource) == 2_000_000)
            shop.server.always("/a", .honest)
            let again = try await shop.get("/a", engine: shop.engine())
            try shop.expect(again.file.path, is: resource)
            #expect(again.resumedAt == 2_000_000)
        }
    }

    @Test("Content-Digest: a mismatch is withdrawn from both journal slots before its bytes change (A45)")
    func durably() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: Self.size)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 2_000_000)
            let (middle, again) = (Gate(), Gate())
            let clock = JumpingClock()
            shop.server.script("/a", [.wrongContentDigest.and(.hold(after: 3_000_000, middle)), .hold(again)])
            let manager = shop.manager(engine: shop.engine(clock: clock)) { $0.stallTimeout = .seconds(6000) }
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(5_000_000, download)
            // A checkpoint claims the received bytes before the end of the response is known.
            clock.jump(.seconds(11))
            try await shop.untilJournal("a") { $0.claimed == [[0, 5_000_000]] }
            middle.open()
            // At the next request the bytes of the withdrawn range may change.
            await again.arrived()
            #expect(try shop.journal("a").claimed == [[0, 2_000_000]])
            let text = try #require(shop.text("a.part.ferry"))
            #expect(!text.contains("5000000"), "\(text)")
            // As after a kill here: the claimed bytes are right and resumed.
            await manager.shutdown()
            #expect(try shop.held("a", of: resource) == 2_000_000)
            again.open()
            shop.server.always("/a", .honest)
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt == 2_000_000)
        }
    }

    @Test("Content-Digest: after a mismatch the digest of the whole file is still right (A45)")
    func follower() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            let gate = Gate()
            let clock = JumpingClock()
            let wrong = Self.right(resource, 0..<20_000_000).and(.corrupt(at: 1000)).and(.hold(after: 18_000_000, gate))
            shop.server.script("/a", [wrong])
            let manager = shop.manager(engine: shop.engine(clock: clock)) { $0.stallTimeout = .seconds(6000) }
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let download = try await manager.download(
                try shop.request("/a") {
                    $0.checksum = checksum
                    $0.maxConnections = 1
                })
            await shop.reach(18_000_000, download)
            clock.jump(.seconds(11))
            try await shop.untilJournal("a") { $0.claimed == [[0, 18_000_000]] }
            gate.open()
            let file = try await download.finished()
            #expect(file.proof == .digest)
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Content-Digest: a mismatch on several connections is fetched again, and the file is right (A45)")
    func several() async throws {
        var configuration = Workshop.counting
        configuration.connectionRate = 8_000_000
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.honest, .wrongContentDigest, .wrongContentDigest])
            let outcome = try await shop.get("/a", engine: shop.engine())
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Content-Digest: a mismatch in a stream is a checksum error without a retry (A45)")
    func stream() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: Self.size))
            shop.server.always("/a", .wrongContentDigest)
            _ = FileManager.default.createFile(atPath: shop.path("output"), contents: nil)
            let handle = try FileHandle(forWritingTo: URL(filePath: shop.path("output")))
            defer { try? handle.close() }
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.destination = .stream(handle.fileDescriptor)
            }
            #expect(outcome.error?.code == .checksum)
            #expect(outcome.says("Do not use"))
            #expect(shop.server.requests.count == 1)
        }
    }

    struct Whole: Sendable, CustomTestStringConvertible {
        var name: String
        var behaviour: Behaviour
        var checksum: String?
        var testDescription: String { name }
    }
    private static let zeros = String(repeating: "0", count: 64)

    @Test(
        "Whole-file digest: a mismatch is an error with both digests, marked in the journal, never published (A45)",
        arguments: [
            Whole(name: "Repr-Digest", behaviour: .wrongReprDigest),
            Whole(name: "Content-MD5", behaviour: .field("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")),
            Whole(name: "Digest", behaviour: .field("Digest", "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")),
            Whole(name: "--checksum", behaviour: .honest, checksum: "sha256:" + zeros),
        ], [400_000, 3_000_000] as [Int64])
    func whole(kind: Whole, size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", resource)
            shop.server.always("/a", kind.behaviour)
            let checksum = try kind.checksum.map { try Checksum(parsing: $0) }
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }, { $0.checksum = checksum })
            #expect(outcome.error?.code == .checksum)
            #expect(outcome.retries == 0)
            let mark = try #require(try shop.journal("a").mismatch)
            #expect(mark.expected != mark.actual)
            #expect(outcome.error?.message.contains("expected \(mark.expected), got \(mark.actual)") == true)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            #expect(try shop.held("a", of: resource) == size)
        }
    }
}
