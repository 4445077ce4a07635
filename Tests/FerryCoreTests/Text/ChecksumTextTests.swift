import FerryCore
import Testing

@Suite("Checksums as text")
struct ChecksumTextTests {
    static let md5 = "d41d8cd98f00b204e9800998ecf8427e"
    static let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static let sha512 = String(repeating: "0123456789abcdef", count: 8)

    @Test(
        "Checksum: every usual spelling is parsed",
        arguments: [
            ("sha256:\(sha256)", "sha-256=\(sha256)"), ("sha-256=\(sha256)", "sha-256=\(sha256)"),
            ("SHA256:\(sha256.uppercased())", "sha-256=\(sha256)"), (" Sha-256 : \(sha256)\n", "sha-256=\(sha256)"),
            ("sha1:\(sha1)", "sha-1=\(sha1)"), ("sha-1=\(sha1)", "sha-1=\(sha1)"), ("md5:\(md5)", "md5=\(md5)"),
            ("sha512:\(sha512)", "sha-512=\(sha512)"), ("SHA-512=\(sha512)", "sha-512=\(sha512)"),
            (" \(sha256.uppercased())", "sha-256=\(sha256)"), (sha512, "sha-512=\(sha512)"), (sha1, "sha-1=\(sha1)"),
            (md5, "md5=\(md5)"),
        ])
    func spellings(_ text: String, _ expected: String) throws {
        let checksum = try Checksum(parsing: text)
        #expect(checksum.description == expected)
        #expect(try Checksum(parsing: checksum.description) == checksum)
        #expect(expected.hasSuffix(checksum.hex))
    }

    @Test(
        "Checksum: a malformed text is refused with its reason",
        arguments: [
            ("", "ALGORITHM:HEX"), (sha256 + "0", "ALGORITHM:HEX"), ("sha256", "ALGORITHM:HEX"),
            ("z" + sha256.dropFirst(), "ALGORITHM:HEX"),
            ("crc32:00000000", "unknown checksum algorithm \"crc32\""), (":00", "unknown checksum algorithm"),
            ("sha256:", "64 hexadecimal digits, this one has 0"), ("sha256:abc", "this one has 3"),
            ("md5:\(sha256)", "a md5 checksum has 32"), ("sha256:\(sha256)0", "this one has 65"),
            ("sha256:zz\(sha256.dropFirst(2))", "not hexadecimal"), ("sha256:\(sha256) x", "not hexadecimal"),
            ("sha256::\(sha256)", "not hexadecimal"), ("a\u{1B}[2J:00", "\"a?[2j\""),
        ])
    func errors(_ text: String, _ part: String) {
        let error = #expect(throws: TextError.self) { try Checksum(parsing: text) }
        #expect(error?.message.lowercased().contains(part.lowercased()) == true, "\(error?.message ?? "")")
    }

    @Test(
        "Checksum: the reasons of refusals exist in Chinese",
        arguments: [
            ("abc", #""abc" 不是校验和：请写成 ALGORITHM:HEX，例如 sha-256:9f86…"#),
            ("crc32:00", #"未知的校验算法 "crc32"：请使用 sha-256、sha-512、sha-1 或 md5"#),
            ("md5:zz", "md5 校验和中有不是十六进制数字的字符"),
            ("sha256:abc", "sha-256 校验和应有 64 个十六进制数字，这里有 3 个"),
        ])
    func translated(_ text: String, _ expected: String) throws {
        let error = try #require(throws: TextError.self) { try Checksum(parsing: text) }
        #expect(error.reason.text(in: .simplifiedChinese) == expected)
        #expect(error.reason.text(in: .english) == error.message)
    }

    @Test("ChecksumList: digests are found by name in all usual formats") func list() throws {
        let list = ChecksumList(
            """
            \u{FEFF}# comment\r
            \(Self.sha256)  plain.iso\r
            \(Self.sha1) *binary.iso
            \(Self.md5)\ttab.iso
            \\\(Self.md5)  back\\\\slash\\nline
            SHA256 (tagged (1).iso) = \(Self.sha256.uppercased())
            SHA2-512(openssl.iso)= \(Self.sha512)
            \(Self.md5)  ./sub/dir/deep.iso
            \(Self.md5)  two  spaces .iso
            not a line at all
            \(Self.md5)x  wrong.iso
            """)
        #expect(list.checksum(for: "plain.iso")?.description == "sha-256=\(Self.sha256)")
        #expect(list.checksum(for: "binary.iso")?.algorithm == .sha1)
        #expect(list.checksum(for: "tab.iso")?.algorithm == .md5)
        #expect(list.checksum(for: "back\\slash\nline")?.hex == Self.md5)
        #expect(list.checksum(for: "tagged (1).iso")?.hex == Self.sha256)
        #expect(list.checksum(for: "openssl.iso")?.algorithm == .sha512)
        #expect(list.checksum(for: "deep.iso")?.algorithm == .md5)
        #expect(list.checksum(for: "/here/plain.iso")?.algorithm == .sha256)
        #expect(list.checksum(for: "two  spaces .iso")?.algorithm == .md5)
        #expect(list.checksum(for: "wrong.iso") == nil)
        #expect(list.checksum(for: "") == nil)
        #expect(list.checksum(for: "plain") == nil)
        #expect(list.entries.count == 8)
    }

    @Test("ChecksumList: a digest with an empty name is for no file") func emptyName() {
        for text in [
            "MD5 () = \(Self.md5)", "MD5 ()= \(Self.md5)", "\\MD5 () = \(Self.md5)", "\(Self.md5) *",
            "\\\(Self.md5)  \\", "\\MD5 (\\) = \(Self.md5)", "\\\(Self.md5)  a\\",
        ] {
            #expect(ChecksumList(text).entries.isEmpty)
        }
        #expect(ChecksumList("MD5 ( ) = \(Self.md5)").checksum(for: " ")?.hex == Self.md5)
    }

    @Test("ChecksumList: a lone digest fits any name, and none beside others") func lone() {
        #expect(ChecksumList("\(Self.sha256)\n").checksum(for: "any")?.hex == Self.sha256)
        #expect(ChecksumList("\n \n\(Self.sha256)   \r\n").checksum(for: "any")?.hex == Self.sha256)
        #expect(ChecksumList("\(Self.sha256)\n\(Self.md5)").checksum(for: "any") == nil)
        #expect(ChecksumList("").checksum(for: "any") == nil)
    }

    @Test("ChecksumList: of canonically equivalent names the one with the same bytes counts, else the only one")
    func equivalent() {
        let other = String(Self.sha256.reversed())
        let list = ChecksumList("\(Self.sha256)  cafe\u{301}\n\(other)  d/caf\u{E9}")
        #expect(list.checksum(for: "cafe\u{301}")?.hex == Self.sha256)
        #expect(list.checksum(for: "d/caf\u{E9}")?.hex == other)
        #expect(ChecksumList("\(Self.sha256)  cafe\u{301}").checksum(for: "caf\u{E9}")?.hex == Self.sha256)
    }

    @Test("ChecksumList: the strongest digest of a name counts, and contradicting ones do not") func several() {
        let other = String(Self.sha256.reversed())
        let both = ChecksumList("\(Self.md5)  a\n\(Self.sha256)  a\n\(Self.sha1)  a")
        #expect(both.checksum(for: "a")?.algorithm == .sha256)
        #expect(ChecksumList("\(Self.sha256)  x/a\n\(other)  y/a").checksum(for: "a") == nil)
        #expect(ChecksumList("\(Self.sha256)  x/a\n\(other)  y/a").checksum(for: "y/a")?.hex == other)
        #expect(ChecksumList("\(Self.sha256)  x/a\n\(other)  a").checksum(for: "a")?.hex == other)
        #expect(ChecksumList("\(Self.sha256)  a\n\(Self.sha256)  a").checksum(for: "a")?.hex == Self.sha256)
    }

    @Test(
        "ChecksumList: random text never traps, and each digest has its algorithm's length",
        arguments: [31, 32, 33] as [UInt64])
    func anyText(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = [
            Self.md5, Self.sha1, "sha256:", "md5=", "SHA256 (", ") = ", ")", "(", "\\", "  ", " *", "\n", "\r\n",
        ]
        for _ in 0..<2000 {
            let text = random.text(of: pieces)
            _ = try? Checksum(parsing: text)
            for entry in ChecksumList(text).entries {
                #expect(entry.checksum.bytes.count == entry.checksum.algorithm.byteCount)
            }
            _ = ChecksumList(text).checksum(for: random.text(of: pieces, length: 8))
        }
    }
}
