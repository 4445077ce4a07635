import FerryTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct URLRouteTests {
    @Test("A URL alone says size, seed, validators and name")
    func file() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            try await client.get("/file/2K/a.bin?seed=5&etag=x&lastmod=0&name=b.bin&field=X-A:1")
            let response = await client.response()
            #expect(response.body == DeterministicBytes(seed: 5).bytes(0..<2000))
            #expect(response["ETag"] == "\"x\"")
            #expect(response["Last-Modified"] == "Thu, 01 Jan 1970 00:00:00 GMT")
            #expect(response["Content-Disposition"] == "attachment; filename=\"b.bin\"")
            #expect(response["X-A"] == "1")
            try await client.get("/file/10?etag=weak&lastmod=none")
            let weak = await client.response()
            #expect(weak["ETag"] == "W/\"s1-10\"" && weak["Last-Modified"] == nil)
        }
    }

    @Test("A misbehaviour ends after its number of times")
    func times() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            for status in [503, 503, 200] {
                try await client.get("/file/10?status=503,1&times=2")
                #expect(await client.response().status == status)
            }
        }
    }

    @Test("Redirects count down, links expire, unknown parameters are said")
    func routes() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            try await client.get("/redirect/307/2/file/10?seed=3")
            let first = await client.response()
            #expect(first.status == 307 && first["Location"] == "/redirect/307/1/file/10?seed=3")
            try await client.get("/redirect/307/1/file/10?seed=3")
            #expect(await client.response()["Location"] == "/file/10?seed=3")
            try await client.get("/expiring/1/file/10")
            let link = try #require(await client.response()["Location"])
            try await client.get(link)
            #expect(await client.response().status == 200)
            try await client.get(link)
            #expect(await client.response().status == 403)
            try await client.get("/file/10?nonsense=1")
            #expect(await client.response().status == 400)
            try await client.get("/nowhere")
            #expect(await client.response().status == 404)
        }
    }

    @Test(
        "Sizes with their units",
        arguments: [
            ("0", 0), ("100", 100), ("5K", 5000), ("5kb", 5000), ("1KiB", 1024), ("1G", 1_000_000_000),
            ("2TiB", 2_199_023_255_552), ("", nil), ("x", nil), ("-1", nil), ("1.5M", nil), ("99999999999T", nil),
        ] as [(String, Int64?)])
    func sizes(text: String, size: Int64?) {
        #expect(ByteSize.parse(text) == size)
    }
}
