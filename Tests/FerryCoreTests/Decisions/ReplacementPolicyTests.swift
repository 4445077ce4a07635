import FerryCore
import HTTPTypes
import Testing

private let old = "Tue, 14 Nov 2023 10:00:00 GMT"
private let late = "Tue, 14 Nov 2023 22:00:00 GMT"

@Suite("Replacement of held bytes")
struct ReplacementPolicyTests {
    private static func known(_ etag: String?, _ type: String? = "application/zip", modified: String? = nil)
        -> FileIdentity
    {
        FileIdentity(etag: etag, lastModified: modified, date: late, totalBytes: 1000, contentType: type)
    }

    private func whole(_ etag: String?, _ type: String?, length: Int = 17, modified: String? = nil) -> Representation {
        var answer = head(200, (.contentLength, "\(length)"), (.date, late))
        answer.headers[.eTag] = etag
        answer.headers[.contentType] = type
        answer.headers[.lastModified] = modified
        return Representation(answer, total: ByteCount(length))
    }

    private func refuses(_ new: Representation, _ known: FileIdentity, acceptsHTML: Bool = false) -> Bool {
        var rules = ResumeRules()
        rules.trust.acceptsHTML = acceptsHTML
        return ReplacementPolicy.refusal(of: new, insteadOf: known, rules) != nil
    }

    @Test(
        "ReplacementPolicy: bytes under a validator are kept for a body of another length without one, of any type",
        arguments: ["application/json", "text/plain", "application/xml", "application/zip", nil],
        ["\"a\"", "W/\"a\""])
    func noValidator(type: String?, tag: String) {
        #expect(refuses(whole(nil, type), Self.known(tag)))
        #expect(refuses(whole(nil, type, length: 0), Self.known(tag)))
        #expect(refuses(whole(nil, type), Self.known(nil, modified: old)))
        #expect(!refuses(whole(nil, type), Self.known(tag), acceptsHTML: true))
    }

    @Test("ReplacementPolicy: a strong validator, a digest, or the length of the file is evidence of a new version")
    func evidence() throws {
        let strong = Self.known("\"a\"")
        #expect(!refuses(whole("\"b\"", "application/zip"), strong))
        #expect(!refuses(whole(nil, "application/zip", modified: old), strong))
        #expect(!refuses(whole(nil, "application/zip", length: 1000), strong))
        var answer = head(200, (.contentLength, "17"))
        let name = try #require(HTTPField.Name("Repr-Digest"))
        answer.headers[name] = "sha-256=:\(String(repeating: "A", count: 43))=:"
        #expect(!refuses(Representation(answer, total: 17), strong))
        #expect(!refuses(whole(nil, "application/zip"), Self.known(nil)))
    }

    @Test("ReplacementPolicy: a finished file under a validator stays if a body of another length has none")
    func finished() {
        func refuses(_ new: Representation, _ known: FileIdentity) -> Bool {
            ReplacementPolicy.refusal(of: new, replacing: known, ResumeRules()) != nil
        }
        #expect(refuses(whole(nil, "text/plain"), Self.known("\"a\"")))
        #expect(refuses(whole(nil, "text/plain", length: 0), Self.known(nil, modified: old)))
        #expect(!refuses(whole(nil, "text/plain", length: 1000), Self.known("\"a\"")))
        #expect(!refuses(whole("W/\"b\"", "text/plain"), Self.known("\"a\"")))
        #expect(!refuses(whole(nil, "text/plain", modified: late), Self.known("\"a\"")))
        #expect(!refuses(whole(nil, "text/plain"), Self.known(nil)))
    }

    @Test("ReplacementPolicy: a weak validator is evidence against a weak one, or with the same type")
    func weak() {
        #expect(!refuses(whole("W/\"b\"", "application/zip"), Self.known("\"a\"")))
        #expect(refuses(whole("W/\"b\"", "text/plain"), Self.known("\"a\"")))
        #expect(!refuses(whole("W/\"b\"", "text/plain"), Self.known("W/\"a\"")))
        #expect(!refuses(whole(nil, "application/zip", modified: late), Self.known("\"a\"")))
    }

    @Test("ReplacementPolicy: the file's own validator is no evidence for a body of another length, of any type")
    func ownValidator() {
        for type in ["application/zip", "text/plain", nil] {
            #expect(refuses(whole("\"a\"", type, length: 0), Self.known("\"a\"")))
            #expect(refuses(whole("W/\"a\"", type, length: 0), Self.known("W/\"a\"")))
            #expect(refuses(whole(nil, type, length: 0, modified: old), Self.known(nil, modified: old)))
            #expect(!refuses(whole("\"a\"", type, length: 0), Self.known("\"a\""), acceptsHTML: true))
        }
        #expect(!refuses(whole("\"a\"", "application/zip", length: 1000), Self.known("\"a\"")))
    }

    @Test(
        "ReplacementPolicy: a JSON, XML or HTML document is no new version of a file of another type",
        arguments: [
            "application/json", "application/problem+json; charset=utf-8", "text/xml", "application/xml", "text/html",
        ])
    func documents(type: String) {
        #expect(refuses(whole("\"b\"", type), Self.known("\"a\"")))
        #expect(refuses(whole(nil, type), Self.known(nil)))
        #expect(!refuses(whole("\"b\"", type), Self.known("\"a\"", "application/json")))
        #expect(!refuses(whole("\"b\"", type), Self.known("\"a\"", nil)))
    }

    @Test("ReplacementPolicy: a strong validator is contradicted by another one or a digest alone")
    func claims() {
        func claim(_ new: Representation, _ known: FileIdentity) -> String? {
            ReplacementPolicy.claim(new, against: PartialContent(identity: known, ranges: RangeSet(0..<9)))
        }
        #expect(claim(whole("\"b\"", nil), Self.known("\"a\"")) == "\"b\"")
        #expect(claim(whole("\"a\"", nil), Self.known("\"a\"")) == nil)
        #expect(claim(whole("W/\"b\"", nil), Self.known("\"a\"")) == nil)
        #expect(claim(whole(nil, nil), Self.known("\"a\"")) == nil)
        #expect(claim(whole("W/\"b\"", nil), Self.known("W/\"a\"")) == "W/\"b\"")
        #expect(claim(whole(nil, nil), Self.known(nil)) == nil)
        #expect(claim(whole(nil, nil, modified: old), Self.known("\"a\"", modified: old)) == nil)
    }
}
