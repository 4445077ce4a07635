import HTTPTypes
import Testing

@testable import FerryCore

@Suite("Digest fields")
struct DigestFieldTests {
    // The digests of the empty text and of "hello".
    static let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let sha256Hello = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    static let sha512 =
        "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    static let md5 = "1B2M2Y8AsgTpgAmY7PhCfg=="
    static let sha1 = "2jmj7l5rSw0yVb/vlWAYkK/YBwk="

    private func head(_ fields: [(String, String)], status: Int = 200) -> ResponseHead {
        var headers = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        return ResponseHead(status: status, headers: headers)
    }

    private func names(_ sums: [Checksum]) -> [String] { sums.map(\.algorithm.rawValue) }

    @Test(
        "DigestField: digests of the whole file are found, strongest first",
        arguments: [
            ([("Repr-Digest", "sha-256=:\(sha256):")], ["sha-256"]),
            ([("Repr-Digest", "sha-256=:\(sha256):, sha-512=:\(sha512):")], ["sha-512", "sha-256"]),
            ([("Repr-Digest", "md5=:\(md5):,sha=:\(sha1):")], ["sha-1", "md5"]),
            (
                [("Repr-Digest", "sha-256=:\(sha256):"), ("Repr-Digest", "sha-512=:\(sha512):")],
                ["sha-512", "sha-256"]
            ),
            ([("repr-digest", "unixsum=:AAAA:, sha-256=:\(sha256):;q=1")], ["sha-256"]),
            ([("Content-MD5", md5)], ["md5"]),
            ([("Digest", "SHA-256=\(sha256)")], ["sha-256"]),
            ([("Digest", "md5=\(md5), sha-512=\(sha512),SHA=\(sha1)")], ["sha-512", "sha-1", "md5"]),
            ([("Digest", "UNIXsum=30637,sha-256=\(sha256)")], ["sha-256"]),
            ([("Content-MD5", md5), ("Digest", "SHA-256=\(sha256)")], ["sha-256", "md5"]),
            ([("Content-Digest", "sha-256=:\(sha256):")], []),
            ([], []),
        ] as [([(String, String)], [String])])
    func found(fields: [(String, String)], expected: [String]) {
        #expect(names(DigestField.digests(in: head(fields))) == expected)
    }

    @Test(
        "DigestField: malformed fields give no digests",
        arguments: [
            ("Repr-Digest", ""), ("Repr-Digest", "sha-256=\(sha256)"), ("Repr-Digest", "sha-256=:\(sha256)"),
            ("Repr-Digest", "sha-256=\"\(sha256)\""), ("Repr-Digest", "sha-256=:AAAA:"), ("Repr-Digest", "sha-256"),
            ("Repr-Digest", "sha-256=::"), ("Repr-Digest", "sha-256=:\(sha256):,,"), ("Repr-Digest", "=:\(sha256):"),
            ("Repr-Digest", "SHA-256=:\(sha256):"), ("Repr-Digest", "sha-512=:\(sha256):"),
            ("Repr-Digest", "sha-256=:!!!!:"), ("Repr-Digest", "sha-256=(:\(sha256):)"), ("Repr-Digest", "sha-256=5"),
            ("Repr-Digest", String(repeating: "a=1,", count: 4000) + "sha-256=:\(sha256):"),
            ("Content-MD5", ""), ("Content-MD5", "AAAA"), ("Content-MD5", "d41d8cd98f00b204e9800998ecf8427e"),
            ("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCf!=="), ("Digest", ""), ("Digest", "SHA-256"), ("Digest", "SHA-256="),
            ("Digest", "SHA-256=AAAA"), ("Digest", "SHA-1=\(sha1)"), ("Digest", "=\(sha256)"), ("Digest", ",,,=,=,"),
            ("Digest", "id-sha-256=\(sha256)"),
        ])
    func malformed(name: String, value: String) {
        #expect(DigestField.digests(in: head([(name, value)])).isEmpty)
    }

    @Test("DigestField: a valid member beside members of other types is kept")
    func badNeighbour() {
        let sums = DigestField.digests(in: head([("Repr-Digest", "sha-512=12, sha-256=:\(Self.sha256):, md5=?1")]))
        #expect(names(sums) == ["sha-256"])
    }

    @Test("DigestField: Repr-Digest overrides a Digest that disagrees")
    func disagree() throws {
        let sums = DigestField.digests(
            in: head([("Digest", "sha-256=\(Self.sha256)"), ("Repr-Digest", "sha-256=:\(Self.sha256Hello):")]))
        #expect(sums.count == 1)
        #expect(sums.first?.bytes.first == 0x2C)
    }

    @Test("DigestField: Content-MD5 counts only on a 200, and an error response gives no digests")
    func status() {
        let fields = [("Content-MD5", Self.md5), ("Repr-Digest", "sha-256=:\(Self.sha256):")]
        #expect(names(DigestField.digests(in: head(fields))) == ["sha-256", "md5"])
        #expect(names(DigestField.digests(in: head(fields, status: 206))) == ["sha-256"])
        #expect(DigestField.digests(in: head(fields, status: 404)).isEmpty)
    }

    @Test("DigestField: digests of one message are read from Content-Digest alone")
    func ofMessage() {
        let fields = [
            ("Content-Digest", "md5=:\(Self.md5):, sha-256=:\(Self.sha256):"),
            ("Repr-Digest", "sha-512=:\(Self.sha512):"),
        ]
        #expect(names(DigestField.contentDigests(in: head(fields, status: 206))) == ["sha-256", "md5"])
        #expect(DigestField.contentDigests(in: head([("Content-MD5", Self.md5)])).isEmpty)
    }

    @Test(
        "DigestField: random fields never trap, and each digest has its algorithm's length",
        arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var fuzz = SeededBytes(seed: seed)
        let pieces = ["sha-256", "sha-512", "md5", "=", ":", Self.sha256, Self.md5, ",", " ", ";", "\"", "(", ")"]
        for _ in 0..<2000 {
            let text = fuzz.text(from: pieces, upTo: 12)
            for name in ["Repr-Digest", "Digest", "Content-MD5"] {
                for sum in DigestField.digests(in: head([(name, text)])) {
                    #expect(sum.bytes.count == sum.algorithm.byteCount, "seed \(seed)")
                }
            }
            _ = DigestField.contentDigests(in: head([("Content-Digest", text)]))
        }
    }

    @Test("DigestField: the checksum of an object counts for the whole of it, not for one of several parts")
    func checksums() throws {
        func digests(_ fields: [String: String], status: Int = 200) throws -> [Checksum] {
            var head = ResponseHead(status: status)
            for (name, value) in fields { head.headers[try #require(HTTPField.Name(name))] = value }
            return DigestField.digests(in: head)
        }
        let sum = Self.sha256
        #expect(try digests(["x-amz-checksum-sha256": sum]).map(\.algorithm) == [.sha256])
        #expect(try digests(["x-amz-checksum-sha256": sum, "x-amz-checksum-type": "FULL_OBJECT"]).count == 1)
        #expect(try digests(["x-amz-checksum-sha256": sum, "x-amz-checksum-type": "COMPOSITE"]).isEmpty)
        #expect(try digests(["x-amz-checksum-sha256": sum + "-2"]).isEmpty)
        #expect(try digests(["x-amz-checksum-sha256": sum], status: 206).isEmpty)
    }
}
