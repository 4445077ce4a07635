import FerryCore
import HTTPTypes
import Testing

@testable import FerryEngine

@Suite("Documents of stores")
struct S3DocumentTests {
    private func failure(_ status: Int, _ code: String, region: String? = nil) -> S3Failure {
        var head = ResponseHead(status: status)
        if let region, let name = HTTPField.Name("x-amz-bucket-region") { head.headers[name] = region }
        return S3Failure(head, body: Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>".utf8))
    }

    @Test("S3Failure: the code decides what is told")
    func codes() throws {
        let object = try DownloadURL("s3://bucket/key")
        func key(_ failure: S3Failure, isSigned: Bool = true) -> ErrorPhrase.Key {
            failure.phrase(of: object, isSigned: isSigned).key
        }
        #expect(key(failure(404, "NoSuchKey")) == .noSuchObject)
        #expect(key(failure(404, "NoSuchBucket")) == .noSuchBucket)
        #expect(key(failure(403, "AccessDenied")) == .objectDenied)
        #expect(key(failure(403, "AccessDenied"), isSigned: false) == .objectNeedsKeys)
        #expect(key(failure(403, "RequestTimeTooSkewed")) == .clockIsWrong)
        #expect(key(failure(403, "SignatureDoesNotMatch")) == .wrongS3Keys)
        #expect(key(failure(400, "ExpiredToken")) == .expiredS3Keys)
        #expect(key(failure(405, "MethodNotAllowed")) == .storeAnswered)
        #expect(failure(403, "InvalidAccessKeyId").errorCode == .credentials)
        #expect(failure(403, "RequestTimeTooSkewed").errorCode == .refused)
        #expect(S3Failure(ResponseHead(status: 404), body: []).phrase(of: object, isSigned: true).key == .noSuchObject)
    }

    @Test("S3Failure: another region, ended keys, a condition and a busy store have their remedies")
    func remedies() {
        #expect(failure(301, "PermanentRedirect", region: "eu-west-1").remedy == .region("eu-west-1"))
        #expect(failure(301, "PermanentRedirect", region: "evil.com/x").remedy == .none)
        #expect(failure(400, "AuthorizationHeaderMalformed").remedy == .none)
        #expect(failure(400, "ExpiredToken", region: "eu-west-1").remedy == .newKeys)
        #expect(failure(412, "PreconditionFailed").remedy == .condition)
        #expect(failure(503, "SlowDown").remedy == .retry)
        let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>us-west-2</Region></Error>"
        #expect(S3Failure(ResponseHead(status: 400), body: Array(body.utf8)).remedy == .region("us-west-2"))
    }

    @Test("S3Failure: no text of a hostile document is shown")
    func hostile() throws {
        let object = try DownloadURL("s3://bucket/key")
        for body in [
            "<Error><Code>\u{1B}[31m x</Code></Error>",
            "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
            "<Error><Code>\(String(repeating: "A", count: 65))</Code></Error>", "not XML",
        ] {
            let failure = S3Failure(ResponseHead(status: 418), body: Array(body.utf8))
            #expect(failure.code.isEmpty)
            let text = failure.phrase(of: object, isSigned: true).text(in: .english)
            #expect(text == "s3://bucket/key: the store answered 418")
        }
    }

    @Test("S3UploadPlan: parts are 8 MiB or more, at most 10,000, and cover the file")
    func plan() throws {
        for total: ByteCount in [0, 1, 8 << 20, (8 << 20) + 1, 80 << 30, (80 << 30) + 12345, 5 << 40] {
            let plan = try #require(S3UploadPlan(totalBytes: total))
            #expect(plan.partBytes >= 8 << 20 && plan.count <= S3UploadPlan.mostParts)
            #expect(plan.range(of: 1).lowerBound == 0)
            #expect(plan.range(of: plan.count).upperBound == total)
            if plan.count > 1 { #expect(plan.range(of: 2).lowerBound == plan.range(of: 1).upperBound) }
        }
        #expect(S3UploadPlan(totalBytes: (5 << 40) + 1) == nil)
    }

    @Test("S3UploadDocument: identifiers and parts are read, impossible ones are refused")
    func uploads() throws {
        func id(_ text: String) throws -> String {
            try S3UploadDocument.identifier(
                Array(
                    "<InitiateMultipartUploadResult><UploadId>\(text)</UploadId></InitiateMultipartUploadResult>".utf8))
        }
        #expect(try id("abc.DEF-_") == "abc.DEF-_")
        for text in ["", "a b", String(repeating: "a", count: 1025)] {
            #expect(throws: TextError.self) { try id(text) }
        }
        let parts = try S3UploadDocument.parts(
            Array(
                """
                <ListPartsResult><IsTruncated>true</IsTruncated>
                <Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>8388608</Size><ChecksumSHA256>Zm9v</ChecksumSHA256></Part>
                <Part><PartNumber>10001</PartNumber><ETag>"b"</ETag><Size>1</Size></Part>
                <Part><PartNumber>2</PartNumber><ETag>"c"</ETag><Size>7</Size></Part></ListPartsResult>
                """.utf8))
        #expect(parts.parts.map(\.number) == [1, 2] && parts.next == 2)
        #expect(parts.parts[0].checksum == "Zm9v" && parts.parts[1].checksum == nil)
    }

    @Test("S3UploadDocument: the completion names each part, and a 200 with an error is no success")
    func completion() throws {
        let text = S3UploadDocument.completion([S3Part(number: 1, bytes: 3, etag: "\"a&b\"", checksum: "Zm9v")])
        #expect(
            text == "<CompleteMultipartUpload><Part><ETag>&quot;a&amp;b&quot;</ETag><PartNumber>1</PartNumber>"
                + "<ChecksumSHA256>Zm9v</ChecksumSHA256></Part></CompleteMultipartUpload>")
        #expect(!S3UploadDocument.isComplete(Array("<Error><Code>InternalError</Code></Error>".utf8)))
        #expect(S3UploadDocument.isComplete(Array("<CompleteMultipartUploadResult/>".utf8)))
        #expect(S3UploadDocument.completedTag(Array("<CompleteMultipartUploadResult/>".utf8)) == nil)
        let tagged = "<CompleteMultipartUploadResult><ETag>&quot;ab-2&quot;</ETag></CompleteMultipartUploadResult>"
        #expect(S3UploadDocument.completedTag(Array(tagged.utf8)) == "\"ab-2\"")
    }
}
