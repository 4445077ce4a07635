import FerryTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30)))
struct RangeTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let range: String
        let status: Int
        let part: Range<Int64>?
        var testDescription: String { range }
        init(_ range: String, _ status: Int, _ part: Range<Int64>?) {
            (self.range, self.status, self.part) = (range, status, part)
        }
    }

    static let forms: [Form] = [
        Form("bytes=0-499", 206, 0..<500), Form("bytes=500-999", 206, 500..<1000),
        Form("bytes=-500", 206, 9500..<10_000),
        Form("bytes=500-", 206, 500..<10_000), Form("bytes=0-0", 206, 0..<1), Form("bytes=9999-", 206, 9999..<10_000),
        Form("bytes=9000-20000", 206, 9000..<10_000), Form("bytes=-20000", 206, 0..<10_000),
        Form("bytes=0-99999999999999999999", 206, 0..<10_000), Form("BYTES=1-2", 206, 1..<3),
        Form("bytes=10000-", 416, nil), Form("bytes=-0", 416, nil), Form("bytes=99999999999999999999-", 416, nil),
        Form("bytes=5-4", 200, nil), Form("bytes=a-b", 200, nil), Form("items=0-1", 200, nil), Form("bytes=", 200, nil),
        Form("bytes=0-1,5-6", 200, nil), Form("bytes=-5-6", 200, nil),
    ]

    @Test("OriginServer: each form of Range is answered as in RFC 9110", arguments: forms)
    func form(_ form: Form) async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 10_000, seed: 3)
            server.serve("/f", resource)
            let client = try await RawClient.connect(server.port)
            try await client.get("/f", "Range: \(form.range)")
            let response = await client.response()
            #expect(response.status == form.status)
            switch form.status {
            case 206:
                let part = try #require(form.part)
                #expect(response["Content-Range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/10000")
                #expect(response.body == resource.bytes(part))
            case 416:
                #expect(response["Content-Range"] == "bytes */10000")
                #expect(response.body.isEmpty)
            default:
                #expect(response["Content-Range"] == nil)
                #expect(response.body == resource.bytes(0..<10_000))
            }
        }
    }

    static let conditions: [(String, Int)] = [
        ("If-Range: \"a\"", 206), ("If-Range: \"b\"", 200), ("If-Range: W/\"a\"", 200),
        ("If-Range: Mon, 01 Jan 2024 00:00:00 GMT", 206), ("If-Range: Mon, 01 Jan 2024 00:00:01 GMT", 200),
        ("If-None-Match: \"a\"", 304), ("If-None-Match: \"x\", W/\"a\"", 304), ("If-None-Match: \"b\"", 206),
        ("If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT", 304),
        ("If-Modified-Since: Sun, 31 Dec 2023 23:59:59 GMT", 206), ("If-Modified-Since: nonsense", 206),
    ]

    @Test("OriginServer: conditional requests are answered as in RFC 9110 §13", arguments: conditions)
    func condition(_ field: String, _ status: Int) async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 100, etag: "\"a\""))
            let client = try await RawClient.connect(server.port)
            try await client.get("/f", "Range: bytes=10-", field)
            let response = await client.response()
            #expect(response.status == status)
            #expect(response["ETag"] == "\"a\"")
        }
    }

    @Test("OriginServer: If-Range with a weak ETag gives the whole file")
    func weakIfRange() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 100, etag: "W/\"a\""))
            let client = try await RawClient.connect(server.port)
            try await client.get("/f", "Range: bytes=10-", "If-Range: W/\"a\"")
            #expect(await client.response().status == 200)
        }
    }

    @Test("OriginServer: several ranges are answered as multipart on request")
    func multipart() async throws {
        try await OriginServer.with { server in
            var resource = Resource(size: 1000)
            resource.multipleRanges = .multipart
            server.serve("/f", resource)
            let client = try await RawClient.connect(server.port)
            try await client.get("/f", "Range: bytes=0-9,-5")
            let response = await client.response()
            #expect(response.status == 206)
            #expect(response["Content-Type"]?.hasPrefix("multipart/byteranges; boundary=") == true)
            #expect(response["Content-Range"] == nil)
            let first = Array("Content-Range: bytes 0-9/1000\r\n\r\n".utf8) + resource.bytes(0..<10)
            let second = Array("Content-Range: bytes 995-999/1000\r\n\r\n".utf8) + resource.bytes(995..<1000)
            #expect(response.body.firstRange(of: first) != nil)
            #expect(response.body.firstRange(of: second) != nil)
        }
    }

    @Test("OriginServer: HEAD has the length and no body")
    func head() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 1000))
            let client = try await RawClient.connect(server.port)
            try await client.send("HEAD /f HTTP/1.1\r\nConnection: close\r\n\r\n")
            let response = Response(await client.rest().bytes)
            #expect(response["Content-Length"] == "1000")
            #expect(response.body.isEmpty)
        }
    }

    @Test("OriginDate: HTTP dates over 300 years are parsed back as they were written")
    func dates() {
        #expect(OriginDate.format(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(OriginDate.format(Date(timeIntervalSince1970: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
        for day in stride(from: -25_000.0, to: 100_000, by: 97) {
            let date = Date(timeIntervalSince1970: day * 86_400 + 12_345)
            #expect(OriginDate.parse(OriginDate.format(date)) == date)
        }
        #expect(OriginDate.parse("yesterday") == nil)
    }
}
