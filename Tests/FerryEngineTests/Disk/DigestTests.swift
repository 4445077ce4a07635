import FerryCore
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Digests", .timeLimit(.minutes(30)))
struct DigestTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(
        "ByteDigest: digests of known bytes are those of RFC 1321 and FIPS 180",
        arguments: [
            (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
            (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                .sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
        ])
    func known(algorithm: DigestAlgorithm, digest: String) {
        #expect(hex(ByteDigest.of(Array("abc".utf8), algorithm)) == digest)
    }

    @Test(
        "PrefixDigest: a digest that follows a growing file equals that of the whole file",
        arguments: DigestAlgorithm.allCases)
    func follows(algorithm: DigestAlgorithm) throws {
        let directory = try TemporaryDirectory()
        let file = try LocalFileSystem().create(directory.file("a"), mode: 0o600)
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        var digest = PrefixDigest(algorithm, of: file)
        var written = 0
        for step in [0, 1, 63, 64, 1_048_575, 1_048_577, 0] {
            let next = min(written + step, bytes.count)
            try file.write(Array(bytes[written..<next]), at: ByteCount(written))
            written = next
            try digest.advance(to: ByteCount(written))
            #expect(digest.position == ByteCount(written))
        }
        #expect(digest.finish() == ByteDigest.of(Array(bytes[..<written]), algorithm))
        try file.write(Array(bytes[written...]), at: ByteCount(written))
        try digest.advance(to: 3_000_000)
        try digest.advance(to: 5)
        #expect(digest.finish() == ByteDigest.of(bytes, algorithm))
        #expect(try ByteDigest.of(file, length: 3_000_000, algorithm) == ByteDigest.of(bytes, algorithm))
    }

    @Test("PrefixDigest: a file shorter than the requested position gives an error instead of a digest (B6)")
    func short() throws {
        let directory = try TemporaryDirectory()
        let file = try LocalFileSystem().open(directory.put("a", [1, 2, 3]), .readOnly)
        var digest = PrefixDigest(.sha256, of: file)
        #expect(throws: FileError(.read, file.path, kind: .endedEarly)) { try digest.advance(to: 4) }
        try digest.advance(to: 3)
        #expect(digest.finish() == ByteDigest.of([1, 2, 3], .sha256))
    }
}
