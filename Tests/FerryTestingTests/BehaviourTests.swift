import FerryTesting
import Foundation
import Testing

/// The misbehaviours of the server, read from a raw socket.
@Suite(.timeLimit(.minutes(30)))
struct BehaviourTests {
    static let resource = Resource(size: 10_000, seed: 9, etag: "\"a\"")

    /// The first response to a ranged request for 1000-1999 under a behaviour.
    private func ranged(_ behaviour: Behaviour) async throws -> Response {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.script("/f", [behaviour])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f", "Range: bytes=1000-1999")
            return await client.response()
        }
    }

    /// Everything received for a plain request under a behaviour that ends the connection.
    private func whole(_ behaviour: Behaviour) async throws -> (response: Response, bytes: [UInt8], end: RawClient.End?)
    {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.script("/f", [behaviour])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            let (bytes, end) = await client.rest()
            return (Response(bytes), bytes, end)
        }
    }

    @Test("Behaviour: ignoreRange answers a range request with a 200 and the whole file")
    func ignoresRange() async throws {
        let response = try await ranged(.ignoreRange)
        #expect(response.status == 200)
        #expect(response.body == Self.resource.bytes(0..<10_000))
    }

    @Test("Behaviour: another part than the requested one is sent, consistent in itself")
    func otherPart() async throws {
        let shifted = try await ranged(.shiftedRange(by: 10))
        #expect(shifted["Content-Range"] == "bytes 1010-2009/10000")
        #expect(shifted.body == Self.resource.bytes(1010..<2010))
        let early = try await ranged(.endsEarly(after: 100))
        #expect(early["Content-Range"] == "bytes 1000-1099/10000")
        #expect(early.body == Self.resource.bytes(1000..<1100))
        let late = try await ranged(.endsLate(by: 100))
        #expect(late["Content-Range"] == "bytes 1000-2099/10000")
        #expect(late.body == Self.resource.bytes(1000..<2100))
    }

    @Test("Behaviour: Content-Range is changed, and the body stays that of the requested part")
    func contentRange() async throws {
        #expect(try await ranged(.total("77"))["Content-Range"] == "bytes 1000-1999/77")
        #expect(try await ranged(.total("*"))["Content-Range"] == "bytes 1000-1999/*")
        let none = try await ranged(.contentRange(nil))
        #expect(none.status == 206 && none["Content-Range"] == nil)
        let odd = try await ranged(.contentRange("bytes=9-3/2"))
        #expect(odd["Content-Range"] == "bytes=9-3/2")
        #expect(odd.body == Self.resource.bytes(1000..<2000))
        #expect(try await ranged(.multipart)["Content-Type"]?.hasPrefix("multipart/byteranges") == true)
    }

    @Test("Behaviour: partialUnasked answers a plain request with a 206")
    func partialUnasked() async throws {
        let (response, _, _) = try await whole(.partialUnasked().and(.closeAfter))
        #expect(response.status == 206)
        #expect(response["Content-Range"] == "bytes 0-9999/10000")
    }

    @Test("Behaviour: unsatisfiable answers 416 with a length, or with an endless body")
    func unsatisfiable() async throws {
        #expect(try await ranged(.unsatisfiable(length: 5))["Content-Range"] == "bytes */5")
        try await OriginServer.with { server in
            server.script("/f", [.unsatisfiable(length: nil, endlessBody: true)])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            let bytes = await client.bytes(atLeast: 3_000_000)
            client.close()
            #expect(Response(bytes).status == 416)
            #expect(bytes.count >= 3_000_000)
        }
    }

    @Test("Behaviour: cut ends a body by FIN or RST after the exact byte")
    func cut() async throws {
        let (closed, _, end) = try await whole(.cut(after: 1234))
        #expect(closed["Content-Length"] == "10000")
        #expect(closed.body == Self.resource.bytes(0..<1234))
        #expect(end == .closed)
        let gate = Gate()
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.script("/f", [.cut(after: 1234, .reset).and(.hold(after: 1234, gate))])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            await gate.arrived()
            let head = Response(await client.bytes(atLeast: 1400))
            #expect(head.body == Self.resource.bytes(0..<1234))
            gate.open()
            #expect(await client.rest().end == .reset)
        }
    }

    @Test("Behaviour: wrong, double and contradicting lengths are sent as requested")
    func lengths() async throws {
        let (excess, _, _) = try await whole(.excess(5).and(.closeAfter))
        #expect(excess["Content-Length"] == "10000")
        #expect(excess.body.count == 10_005)
        #expect(try await ranged(.contentLength("1000x"))["Content-Length"] == "1000x")
        let (both, bytes, _) = try await whole(.lengthAndChunked.and(.closeAfter))
        #expect(both["Content-Length"] == "10000" && both["Transfer-Encoding"] == "chunked")
        #expect(bytes.suffix(5) == Array("0\r\n\r\n".utf8))
        let (two, _, _) = try await whole(.secondContentLength("10").and(.closeAfter))
        #expect(two.head.components(separatedBy: "Content-Length").count == 3)
    }

    @Test("Behaviour: chunked bodies are sent whole, cut, without an end and with bad sizes")
    func chunks() async throws {
        let (right, _, _) = try await whole(.chunked(4096).and(.closeAfter))
        #expect(right.body == Self.chunked([0..<4096, 4096..<8192, 8192..<10_000], last: true))
        let (cut, _, _) = try await whole(.chunked(4096).and(.cut(after: 5000)))
        let second = Array("1000\r\n".utf8) + Self.resource.bytes(4096..<5000)
        #expect(cut.body == Self.chunked([0..<4096], last: false) + second)
        let (open, _, _) = try await whole(.missingLastChunk)
        #expect(open.body == Self.chunked([0..<10_000], last: false))
        let (bad, _, _) = try await whole(.badChunkSize("zz", after: 100))
        #expect(bad.body.starts(with: Self.chunked([0..<100], last: false) + Array("zz\r\n".utf8)))
    }

    private static func chunked(_ parts: [Range<Int64>], last: Bool) -> [UInt8] {
        parts.flatMap { part in
            Array("\(String(part.count, radix: 16))\r\n".utf8) + resource.bytes(part) + Array("\r\n".utf8)
        } + (last ? Array("0\r\n\r\n".utf8) : [])
    }

    @Test("Behaviour: closeDelimited ends the body with the connection")
    func closeDelimited() async throws {
        let (response, _, end) = try await whole(.closeDelimited())
        #expect(response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
        #expect(response.body == Self.resource.bytes(0..<10_000))
        #expect(end == .closed)
    }

    @Test("Behaviour: malformed fields and raw bytes are sent unchanged")
    func fields() async throws {
        #expect(try await ranged(.etag("unquoted"))["ETag"] == "unquoted")
        #expect(try await ranged(.contentEncoding())["Content-Encoding"] == "gzip")
        let (many, _, _) = try await whole(.manyFields(500, valueBytes: 1000).and(.closeAfter))
        #expect(many.fields.count > 500)
        let (_, garbage, _) = try await whole(.raw(bytes: [0, 1, 2, 255]))
        #expect(garbage == [0, 1, 2, 255])
        let (_, icy, _) = try await whole(.raw("ICY 200 OK\nContent-Length: 1\n\nx"))
        #expect(icy == Array("ICY 200 OK\r\nContent-Length: 1\r\n\r\nx".utf8))
    }

    @Test("Behaviour: silence, endless heads and stalled bodies last until the server shuts down")
    func silence() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.script("/f", [.silence, .endlessHead, .stall(after: 10)])
            let silent = try await RawClient.connect(server.port)
            try await silent.get("/f")
            try await server.waitFor { $0.requests.first?.isFinished == true }
            let headless = try await RawClient.connect(server.port)
            try await headless.get("/f")
            #expect(Response.headEnd(await headless.bytes(atLeast: 1_000_000)) == nil)
            headless.close()
            let stalled = try await RawClient.connect(server.port)
            try await stalled.get("/f")
            try await server.waitFor { $0.requestCount == 3 && $0.requests[2].bodyBytes == 10 }
            await server.shutdown()
            #expect(await silent.rest().bytes.isEmpty)
            #expect(Response(await stalled.rest().bytes).body == Self.resource.bytes(0..<10))
        }
    }

    @Test("Behaviour: informational responses precede the final response")
    func informational() async throws {
        let (_, bytes, _) = try await whole(.informational(3).and(.closeAfter))
        let text = String(decoding: bytes.prefix(400), as: UTF8.self)
        #expect(text.components(separatedBy: "HTTP/1.1 103").count == 4)
        #expect(text.contains("HTTP/1.1 200 OK"))
    }

    @Test("Behaviour: a redirect chain counts down to the file, and redirectTwice has two Locations")
    func redirects() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.always("/f", .redirectChain(2))
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            #expect(await client.response()["Location"] == "/f?hop=1")
            try await client.get("/f?hop=1")
            #expect(await client.response()["Location"] == "/f?hop=2")
            try await client.get("/f?hop=2")
            #expect(await client.response().status == 200)
            server.always("/f", .redirectTwice(to: "/x", and: "/y"))
            try await client.get("/f")
            #expect(await client.response().head.components(separatedBy: "Location:").count == 3)
        }
    }

    @Test("OriginServer: an expiring link lasts for its number of requests, then a new one is issued")
    func expiring() async throws {
        try await OriginServer.with { server in
            server.serveExpiring("/get", to: "/cdn", Self.resource, hits: 2)
            let client = try await RawClient.connect(server.port)
            try await client.get("/get")
            let link = try #require(await client.response()["Location"])
            for status in [200, 200, 403] {
                try await client.get(link)
                #expect(await client.response().status == status)
            }
            try await client.get("/get")
            let second = try #require(await client.response()["Location"])
            #expect(second != link)
            try await client.get(second, "Range: bytes=5-")
            #expect(await client.response().status == 206)
        }
    }

    @Test("Behaviour: a status with Retry-After is sent once, then the file")
    func retryAfter() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            server.script(
                "/f", [.status(503, retryAfter: "7"), .status(429, retryAfter: Date(timeIntervalSince1970: 0))])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            #expect(await client.response()["Retry-After"] == "7")
            try await client.get("/f")
            #expect(await client.response()["Retry-After"] == "Thu, 01 Jan 1970 00:00:00 GMT")
            try await client.get("/f")
            #expect(await client.response().status == 200)
        }
    }

    @Test("Behaviour: Content-Digest is right by default and wrong on request")
    func digests() async throws {
        try await OriginServer.with { server in
            var resource = Resource(text: "hello world\n")
            resource.offersContentDigest = true
            server.serve("/f", resource)
            server.script("/f", [.honest, .wrongContentDigest])
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            #expect(
                await client.response()["Content-Digest"]
                    == "sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:")
            try await client.get("/f")
            #expect(
                await client.response()["Content-Digest"]
                    == "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        }
    }
}
