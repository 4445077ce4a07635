import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import FerryEngine

/// The examples of AWS's documentation of Signature Version 4 for S3.
@Suite("Signed requests to stores")
struct S3FieldsTests {
    private static let time = "20130524T000000Z"

    private func keys() throws -> S3Credentials {
        try S3Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    }

    private func signature(
        _ method: String, _ path: String, _ fields: [String: String] = [:], payload: String = SignatureV4.emptyDigest
    ) throws -> String {
        var all = fields
        all["Host"] = "examplebucket.s3.amazonaws.com"
        all["x-amz-date"] = Self.time
        all["x-amz-content-sha256"] = payload
        let signature = SignatureV4(
            method: method, url: try DownloadURL("https://examplebucket.s3.amazonaws.com\(path)"),
            fields: all.map { SignatureV4.Field($0.key, $0.value) }, payloadDigest: payload, time: Self.time,
            region: "us-east-1")
        return try S3Fields.authorization(signature, keys())
    }

    @Test("S3Fields: the documented GET of a range has the documented signature")
    func range() throws {
        #expect(
            try signature("GET", "/test.txt", ["Range": "bytes=0-9"])
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test("S3Fields: the documented PUT, GET of a subresource and list have the documented signatures")
    func others() throws {
        let put = try signature(
            "PUT", "/test%24file.text",
            ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
            payload: S3Fields.sha256(Array("Welcome to Amazon S3.".utf8)))
        #expect(put.hasSuffix("=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
        #expect(
            try signature("GET", "/?lifecycle=")
                .hasSuffix("=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
        #expect(
            try signature("GET", "/?max-keys=2&prefix=J")
                .hasSuffix("=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"))
    }

    private func headers(_ user: HTTPFields, _ account: S3Account, own: HTTPFields = HTTPFields()) throws -> [String:
        String]
    {
        let fields = S3Fields(
            method: .get, url: try DownloadURL("https://b-b.s3.us-east-1.amazonaws.com/k"), userAgent: "ferry",
            own: own,
            user: user, contentDigest: SignatureV4.emptyDigest)
        var found: [String: String] = [:]
        for (name, value) in fields.headers(account, now: Date(timeIntervalSince1970: 0)) {
            found[name.lowercased()] = value
        }
        return found
    }

    @Test("S3Fields: no field of the user changes the server, the time or the signature")
    func userFields() throws {
        var user = HTTPFields()
        for (name, value) in [
            ("Host", "evil"), ("Authorization", "mine"), ("X-Amz-Date", "0"), ("X-Amz-Content-Sha256", "0"),
            ("X-Amz-Security-Token", "0"), ("X-Amz-Request-Payer", "requester"), ("X-Other", "1"),
        ] { user.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        let account = S3Account(endpoint: S3Endpoint(), region: "us-east-1", keys: try keys())
        let found = try headers(user, account)
        #expect(found["host"] == "b-b.s3.us-east-1.amazonaws.com")
        #expect(found["x-amz-date"] == "19700101T000000Z")
        #expect(found["x-amz-content-sha256"] == SignatureV4.emptyDigest)
        #expect(found["x-amz-security-token"] == nil)
        #expect(found["x-other"] == "1")
        let authorization = try #require(found["authorization"])
        #expect(authorization.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-request-payer,"))
    }

    @Test("S3Fields: without keys nothing is signed")
    func anonymous() throws {
        let found = try headers(
            HTTPFields(), S3Account(endpoint: S3Endpoint(), region: "us-east-1", keys: nil), own: [.range: "bytes=0-1"])
        #expect(found["authorization"] == nil && found["x-amz-date"] == nil && found["range"] == "bytes=0-1")
    }

    @Test("S3Condition: If-Range becomes If-Match, and without its condition the range goes too")
    func condition() {
        var condition = S3Condition([.range: "bytes=5-", .ifRange: "\"a\""])
        #expect(condition.fields[.ifMatch] == "\"a\"" && condition.fields[.ifRange] == nil)
        let isDropped = condition.dropRange()
        #expect(isDropped && condition.fields == HTTPFields())
        let isDroppedAgain = condition.dropRange()
        #expect(!isDroppedAgain)
        let dated = S3Condition([.ifRange: "Mon, 12 Oct 2009 17:50:30 GMT"])
        #expect(dated.fields[.ifUnmodifiedSince] == "Mon, 12 Oct 2009 17:50:30 GMT")
    }
}
