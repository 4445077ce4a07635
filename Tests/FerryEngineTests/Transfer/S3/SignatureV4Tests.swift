import FerryCore
import Testing

@testable import FerryEngine

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

@Suite("Signature Version 4")
struct SignatureV4Tests {
    /// The example of AWS's documentation, "GET Object".
    @Test("SignatureV4: the documented GET of a range has the documented canonical request")
    func range() throws {
        let url = S3Endpoint(base: try DownloadURL("https://examplebucket.s3.amazonaws.com")).url(
            for: try #require(DownloadURL(bucket: "x-x", key: Array("test.txt".utf8))), region: "us-east-1")
        #expect(url.path == "/x-x/test.txt")
        let object = try DownloadURL("https://examplebucket.s3.amazonaws.com/test.txt")
        let signature = SignatureV4(
            method: "GET", url: object,
            fields: [
                .init("x-amz-date", "20130524T000000Z"), .init("Range", "bytes=0-9"),
                .init("Host", "examplebucket.s3.amazonaws.com"),
                .init("x-amz-content-sha256", SignatureV4.emptyDigest),
            ],
            payloadDigest: SignatureV4.emptyDigest, time: "20130524T000000Z", region: "us-east-1")
        #expect(
            signature.canonicalRequest == """
                GET
                /test.txt

                host:examplebucket.s3.amazonaws.com
                range:bytes=0-9
                x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                x-amz-date:20130524T000000Z

                host;range;x-amz-content-sha256;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """)
        #expect(
            signature.stringToSign("7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972") == """
                AWS4-HMAC-SHA256
                20130524T000000Z
                20130524/us-east-1/s3/aws4_request
                7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972
                """)
        #expect(signature.keySteps == ["20130524", "us-east-1", "s3", "aws4_request"])
    }

    @Test("SignatureV4: the time is in UTC and without marks")
    func time() {
        #expect(SignatureV4.time(Date(timeIntervalSince1970: 1_369_353_600.9)) == "20130524T000000Z")
    }
}
