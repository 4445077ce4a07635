import FerryCore
import Foundation
import Testing

@Suite("Resume data")
struct ResumeDataTests {
    static let golden =
        #"{"checksum":"sha-256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","#
        + #""completedBytes":1200000000,"created":1760000000,"etag":"\"5f3-abc\"","format":"ferry-resume-data","#
        + #""id":"00c0ffee00c0ffee","lastModified":"Wed, 21 Oct 2015 07:28:00 GMT","#
        + #""partPath":"/home/me/Downloads/big.iso.part","seal":"59e15c10","totalBytes":4700000000,"#
        + #""urls":["https://example.com/big.iso?v=2"],"version":1}"#

    /// The resume data of `docs/resume-data.md`.
    static func documented() throws -> ResumeData {
        try ResumeData(
            id: DownloadID(rawValue: "00c0ffee00c0ffee"),
            sources: [DownloadURL("https://me:secret@example.com/big.iso?v=2")],
            partPath: "/home/me/Downloads/big.iso.part", totalBytes: 4_700_000_000, completedBytes: 1_200_000_000,
            etag: #""5f3-abc""#, lastModified: "Wed, 21 Oct 2015 07:28:00 GMT",
            checksum: Checksum(parsing: "sha-256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
            created: Date(timeIntervalSince1970: 1_760_000_000.75))
    }

    @Test("ResumeData: it is written as documented, without credentials, and reads back equal")
    func goldenText() throws {
        let value = try Self.documented()
        #expect(String(decoding: value.data, as: UTF8.self) == Self.golden)
        #expect(try ResumeData(value.data) == value)
        #expect(value.sources.first?.credentials == nil)
    }

    @Test("ResumeData: unknown values are left out of the text")
    func leastFields() throws {
        let value = try ResumeData(
            id: DownloadID(rawValue: "文\"\\"), sources: [DownloadURL("http://a.example/")], partPath: "/x.part",
            totalBytes: nil, completedBytes: 0, created: Date(timeIntervalSince1970: -1.5))
        let text = String(decoding: value.data, as: UTF8.self)
        #expect(!text.contains("etag") && !text.contains("totalBytes") && !text.contains("null"))
        #expect(text.contains(#""id":"文\"\\""#))
        #expect(try ResumeData(value.data) == value)
    }

    @Test("ResumeData: reordered, indented or embedded in another document it reads back equal")
    func elsewhere() throws {
        let value = try Self.documented()
        let object = try JSONSerialization.jsonObject(with: value.data)
        let indented = try JSONSerialization.data(withJSONObject: object, options: .prettyPrinted)
        #expect(indented != value.data)
        #expect(try ResumeData(indented) == value)
        let kept = try JSONEncoder().encode(["mine": value])
        #expect(try JSONDecoder().decode([String: ResumeData].self, from: kept) == ["mine": value])
        let listed = try PropertyListEncoder().encode([value])
        #expect(try PropertyListDecoder().decode([ResumeData].self, from: listed) == [value])
    }

    @Test("ResumeData: flipped or cut bytes anywhere are reported as damage")
    func damage() throws {
        let bytes = Array(Self.golden.utf8)
        for index in bytes.indices {
            for bit in [index % 8, (index + 5) % 8] {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(reason(damaged) != nil, "bit \(bit) of byte \(index)")
            }
            guard index.isMultiple(of: 5) else { continue }
            #expect(reason(Array(bytes[..<index])) != nil, "cut at \(index)")
        }
        #expect(reason(Array(bytes.dropLast(9)))?.hasPrefix("the resume data is damaged: ") ?? false)
        let swapped = Self.golden.replacing("1200000000", with: "1200000001")
        #expect(reason(Array(swapped.utf8)) == "the resume data is damaged: its seal does not fit")
        let unsealed = Self.golden.replacing(#""seal":"59e15c10","#, with: "")
        #expect(reason(Array(unsealed.utf8)) == "the resume data is damaged: its seal does not fit")
    }

    @Test(
        "ResumeData: foreign formats, damage and newer versions give different errors",
        arguments: [
            ("", "the resume data is empty"),
            ("bplist00\u{1}", "this is not Ferry resume data: it is a property list, as URLSession makes"),
            (
                #"<?xml version="1.0"?><plist/>"#,
                "this is not Ferry resume data: it is a property list, as URLSession makes"
            ),
            ("hello", "this is not Ferry resume data: it is no JSON"),
            ("[]", "this is not Ferry resume data: it is not a JSON object"),
            ("7", "this is not Ferry resume data: it is not a JSON object"),
            (#"{"url":"x"}"#, "this is not Ferry resume data: it has another format"),
            (#"{"format":"ferry-resume-data"}"#, "the resume data is damaged: it has no version"),
            (#"{"format":"ferry-resume-data","version":0}"#, "the resume data is damaged: it has no version"),
            (#"{"format":"ferry-resume-data","version":1}"#, "the resume data is damaged: its seal does not fit"),
            (
                #"{"format":"ferry-resume-data","version":2,"anything":{}}"#,
                "the resume data is from a newer Ferry (format 2, this one reads up to 1)"
            ),
            (
                #"{"format":"ferry-resume-data","version":1.5}"#,
                "the resume data is damaged: it is no JSON of whole numbers"
            ),
        ])
    func foreign(text: String, message: String) { #expect(reason(Array(text.utf8)) == message) }

    @Test("ResumeData: huge and deeply nested values are refused")
    func huge() {
        #expect(
            reason([UInt8](repeating: 0x20, count: 2 << 20)) == "this is not Ferry resume data: it has 2097152 bytes")
        let deep = String(repeating: "[", count: 100_000)
        #expect(reason(Array(deep.utf8)) != nil)
        #expect(reason(Array((deep + String(repeating: "]", count: 100_000)).utf8)) != nil)
    }

    /// Each level once cost more than the one above: 800 bytes took half a second, and 1 MiB would have taken minutes.
    @Test("ResumeData: values nested deeper than 33 levels are refused without being parsed", .timeLimit(.minutes(30)))
    func depth() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(reason(Array(nested(33).utf8))?.hasSuffix("it is not a JSON object") == true)
        #expect(reason(Array(nested(34).utf8))?.hasSuffix("it is no JSON") == true)
        let many = "[" + Array(repeating: nested(400), count: 1000).joined(separator: ",") + "]"
        #expect(reason(Array(many.utf8))?.hasSuffix("it is no JSON") == true)
    }

    /// Each has a right seal, made as documented.
    @Test(
        "ResumeData: impossible fields are refused although the seal is right",
        arguments: [
            (#""completedBytes":-1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part""#, "sizes"),
            (
                #""completedBytes":9,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part","totalBytes":8"#,
                "sizes"
            ),
            (#""completedBytes":1,"created":0,"format":"ferry-resume-data","id":"","partPath":"/p.part""#, "no id"),
            (
                #""completedBytes":1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"p.part""#,
                "no absolute path"
            ),
            (
                #""completedBytes":1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part","relativePath":"../p.part""#,
                "no absolute path"
            ),
            (
                #""completedBytes":1,"created":0,"format":"ferry-resume-data","id":7,"partPath":"/p.part""#,
                "id is no text"
            ),
            (
                #""checksum":"md5=7","completedBytes":1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part""#,
                "hexadecimal digits"
            ),
        ])
    func impossible(fields: String, detail: String) {
        let text = sealed("{\(fields)", #""urls":["http://a.example/"],"version":1}"#)
        let said = reason(Array(text.utf8))
        #expect(said?.hasPrefix("the resume data is damaged: ") ?? false)
        #expect(said?.contains(detail) ?? false, "\(said ?? "nothing")")
    }

    @Test("ResumeData: unusable URLs and URLs with credentials are refused, and unknown keys are accepted")
    func urlsAndUnknownKeys() {
        let start = #"{"completedBytes":1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part""#
        #expect(reason(Array(sealed(start, #""urls":[],"version":1}"#).utf8))?.contains("no URL") ?? false)
        #expect(reason(Array(sealed(start, #""urls":["file:///x"],"version":1}"#).utf8)) != nil)
        let secret = reason(Array(sealed(start, #""urls":["http://a:b@a.example/"],"version":1}"#).utf8))
        #expect(secret == "the resume data is damaged: a URL in it has credentials")
        let newer = sealed(start, #""urls":["http://a.example/"],"version":1,"zebra":[true,null,{"a":1}]}"#)
        #expect(reason(Array(newer.utf8)) == nil)
    }

    @Test("ResumeData: errors about a URL or a digest exist in Chinese")
    func translated() throws {
        let start = #"{"completedBytes":1,"created":0,"format":"ferry-resume-data","id":"a","partPath":"/p.part""#
        let digest = start.replacing("{", with: #"{"checksum":"md5=7","#)
        let texts = [
            sealed(start, #""urls":["ftp://h/x"],"version":1}"#),
            sealed(digest, #""urls":["http://a.example/"],"version":1}"#),
        ]
        let expected = [
            #"续传数据已损坏：网址 "ftp://h/x" 无法使用：协议是 "ftp"，而只能下载 http、https 和 s3"#,
            "续传数据已损坏：md5 校验和应有 32 个十六进制数字，这里有 1 个",
        ]
        for (text, expected) in zip(texts, expected) {
            let error = try #require(throws: DownloadError.self) { try ResumeData(Data(text.utf8)) }
            #expect(error.message(in: .simplifiedChinese) == expected)
        }
    }

    /// The reason why the bytes cannot be used; `nil` when they can.
    private func reason(_ bytes: [UInt8]) -> String? {
        do throws(DownloadError) {
            _ = try ResumeData(Data(bytes))
            return nil
        } catch {
            return error.code == .notResumable ? error.message : "another code: \(error)"
        }
    }

    /// Two halves of a canonical text, with the seal between them.
    private func sealed(_ head: String, _ tail: String) -> String {
        var remainder: UInt32 = .max
        for byte in "\(head),\(tail)".utf8 {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        let digits = String(~remainder, radix: 16)
        return "\(head),\"seal\":\"\(String(repeating: "0", count: 8 - digits.count))\(digits)\",\(tail)"
    }
}
