import FerryTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30)))
struct URLRouteTests {
    @Test("URL routes: a URL sets size, seed, validators, name and fields")
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

    @Test("URL routes: a misbehaviour ends after its number of times")
    func times() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            for status in [503, 503, 200] {
                try await client.get("/file/10?status=503,1&times=2")
                #expect(await client.response().status == status)
            }
        }
    }

    @Test("URL routes: a misbehaviour may apply to every second or to ranged requests only")
    func conditions() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            for status in [200, 503, 200, 503] {
                try await client.get("/file/10?status=503&every=2")
                #expect(await client.response().status == status)
            }
            try await client.get("/file/10?status=503&ranged&times=1")
            #expect(await client.response().status == 200)
            for status in [503, 206] {
                try await client.get("/file/10?status=503&ranged&times=1", "Range: bytes=5-")
                #expect(await client.response().status == status)
            }
        }
    }

    @Test("URL routes: a scene answers as its last target, and the log has its requests")
    func scene() async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            try await client.get("/scene/a.bin")
            #expect(await client.response().status == 404)
            for seed: UInt64 in [1, 2] {
                try await client.get("/set/a.bin?/file/10?seed=\(seed)")
                #expect(await client.response().status == 200)
                try await client.get("/scene/a.bin", "X-A: b")
                #expect(await client.response().body == DeterministicBytes(seed: seed).bytes(0..<10))
            }
            for target in ["/scene/a.bin", "/redirect/302/0/scene/a.bin", "/set/a.bin?/file/10", ""] {
                try await client.get("/set/a.bin?\(target)")
                #expect(await client.response().status == 400)
            }
            try await client.get("/set/b.bin?/file/10?location=/scene/b.bin")
            #expect(await client.response().status == 200)
            let log = server.requestLog
            #expect(log.contains(#"["X-A","b"]"#) && !log.contains("set"))
            #expect(log.components(separatedBy: "a.bin").count == 4)
        }
    }

    @Test(
        "URL routes: each misbehaviour has a parameter",
        arguments: [
            ("badrange=none", 206, "Content-Range", nil), ("anyifrange", 206, "Content-Range", "bytes 4-9/10"),
            ("byteranges", 206, "Content-Type", "multipart/byteranges; boundary=ferry-boundary"),
            ("part=2-6", 206, "Content-Range", "bytes 2-5/10"), ("part=6-2", 400, "ETag", nil),
            ("unsatisfiable=7", 416, "Content-Range", "bytes */7"),
            ("unsatisfiable=none", 416, "Content-Range", nil), ("version=2", 200, "ETag", "\"s2-10\""),
            ("length=6", 206, "Content-Length", "6"), ("manyfields=3,5", 206, "X-Filler-2", "xxxxx"),
            ("bodiless=204", 204, "Content-Length", nil), ("location=file:///x", 302, "Location", "file:///x"),
            ("loop", 302, "Location", "/file/10?loop"), ("badchunk=x", 400, "ETag", nil),
        ] as [(String, Int, String, String?)])
    func parameters(query: String, status: Int, name: String, value: String?) async throws {
        try await OriginServer.with { server in
            let client = try await RawClient.connect(server.port)
            let condition = query == "anyifrange" ? "\"other\"" : "\"s1-10\""
            try await client.get("/file/10?\(query)", "Range: bytes=4-", "If-Range: \(condition)", "Connection: close")
            let response = await client.response()
            #expect(response.status == status)
            #expect(response[name] == value)
        }
    }

    @Test("URL routes: redirects count down, links expire, and unknown parameters are a 400")
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
        "ByteSize: sizes are parsed with their units, and malformed ones give nil",
        arguments: [
            ("0", 0), ("100", 100), ("5K", 5000), ("5kb", 5000), ("1KiB", 1024), ("1G", 1_000_000_000),
            ("2TiB", 2_199_023_255_552), ("", nil), ("x", nil), ("-1", nil), ("1.5M", nil), ("99999999999T", nil),
        ] as [(String, Int64?)])
    func sizes(text: String, size: Int64?) {
        #expect(ByteSize.parse(text) == size)
    }
}
