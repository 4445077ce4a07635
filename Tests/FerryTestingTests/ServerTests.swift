import FerryTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30)))
struct ServerTests {
    @Test("OriginServer: requests, bytes and connections are counted and can be awaited")
    func counting() async throws {
        try await OriginServer.with { server in
            server.serve("/a", Resource(size: 1000))
            server.serve("/b", Resource(size: 500))
            let first = try await RawClient.connect(server.port)
            try await first.get("/a?x=1", "Range: bytes=0-9", "X-Mark: m")
            _ = await first.response()
            let second = try await RawClient.connect(server.port)
            try await second.get("/b")
            _ = await second.response()
            let traffic = try await server.waitFor { $0.bodyBytes == 510 && $0.requests.allSatisfy(\.isFinished) }
            #expect(traffic.requests.map(\.path) == ["/a", "/b"])
            #expect(traffic.requests.map(\.range) == ["bytes=0-9", nil])
            #expect(traffic.requests.map(\.status) == [206, 200])
            #expect(traffic.requests.map(\.connection) == [0, 1])
            #expect(traffic.requests[0].head["x-mark"] == "m")
            #expect(traffic.bodyBytesByPath == ["/a": 10, "/b": 500])
            #expect(traffic.peakConnections == 2)
            first.close()
            second.close()
            try await server.waitFor { $0.openConnections == 0 }
        }
    }

    @Test("OriginServer: a response keeps the version of the file it began with")
    func versions() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f", Resource(size: 3_000_000, seed: 1))
            server.script("/f", [.hold(after: 1_000_000, gate)])
            let first = try await RawClient.connect(server.port)
            try await first.get("/f")
            await gate.arrived()
            server.update("/f") { resource in
                resource.seed = 2
                resource.etag = "\"two\""
            }
            let second = try await RawClient.connect(server.port)
            try await second.get("/f")
            let new = await second.response()
            gate.open()
            let old = await first.response()
            #expect(old.body == DeterministicBytes(seed: 1).bytes(0..<3_000_000))
            #expect(old["ETag"] == "\"s1-3000000\"")
            #expect(new.body == DeterministicBytes(seed: 2).bytes(0..<3_000_000))
            #expect(new["ETag"] == "\"two\"")
            try await second.get("/f", "Range: bytes=-1")
            #expect(await second.response().status == 206)
            #expect(server.requests.map(\.connection) == [0, 1, 1])
        }
    }

    @Test("OriginServer: a held response sends nothing before its gate opens")
    func gate() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f", Resource(size: 10))
            server.always("/f", .hold(gate))
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            await gate.arrived()
            #expect(server.traffic.bodyBytes == 0)
            gate.open()
            #expect(await client.response().status == 200)
        }
    }

    @Test("OriginServer: connections beyond the limit are closed, reset or answered with a status")
    func limits() async throws {
        for excess in [ConnectionLimit.Excess.close, .reset] {
            var configuration = OriginServer.Configuration()
            configuration.limit = ConnectionLimit(1, excess)
            try await OriginServer.with(configuration) { server in
                server.serve("/f", Resource(size: 10))
                let first = try await RawClient.connect(server.port)
                try await first.get("/f")
                _ = await first.response()
                let end: RawClient.End?
                do {
                    end = await (try RawClient.connect(server.port)).rest().end
                } catch { end = .reset }
                #expect(end != nil)
                first.close()
                try await server.waitFor { $0.openConnections == 0 }
                let third = try await RawClient.connect(server.port)
                try await third.get("/f")
                #expect(await third.response().status == 200)
            }
        }
        var configuration = OriginServer.Configuration()
        configuration.limit = ConnectionLimit(1, .status(429, retryAfter: "1"))
        try await OriginServer.with(configuration) { server in
            let gate = Gate()
            server.serve("/f", Resource(size: 10))
            server.script("/f", [.hold(after: 5, gate)])
            let first = try await RawClient.connect(server.port)
            try await first.get("/f")
            await gate.arrived()
            let second = try await RawClient.connect(server.port)
            try await second.get("/f")
            #expect(await second.response().status == 429)
            gate.open()
            #expect(await first.response().status == 200)
            // A client has the last byte before the server counts its response as sent.
            try await server.waitFor { $0.activeRequests == 0 }
            try await second.get("/f")
            #expect(await second.response().status == 200)
        }
    }

    @Test("OriginServer: with .refuse the listener closes at the limit and opens again below it")
    func refusingBeyondLimit() async throws {
        var configuration = OriginServer.Configuration()
        configuration.limit = ConnectionLimit(1, .refuse)
        try await OriginServer.with(configuration) { server in
            server.serve("/f", Resource(size: 10))
            let first = try await RawClient.connect(server.port)
            try await first.get("/f")
            #expect(await first.response().status == 200)
            // The socket closes asynchronously: until then other connections are accepted and reset.
            var isRefused = false
            while !isRefused, !Task.isCancelled {
                do {
                    let second = try await RawClient.connect(server.port)
                    #expect(await second.rest().bytes.isEmpty)
                } catch { isRefused = true }
            }
            #expect(isRefused)
            first.close()
            var third: RawClient?
            while third == nil, !Task.isCancelled { third = try? await RawClient.connect(server.port) }
            try await third?.get("/f")
            #expect(await third?.response().status == 200)
            #expect(server.requests.count == 2)
        }
    }

    @Test("OriginServer: the listener closes and opens again on the same port")
    func refusing() async throws {
        try await OriginServer.with { server in
            try await server.setListening(false)
            await #expect(throws: (any Error).self) { _ = try await RawClient.connect(server.port) }
            try await server.setListening(true)
            server.serve("/f", Resource(size: 10))
            let client = try await RawClient.connect(server.port)
            try await client.get("/f")
            #expect(await client.response().status == 200)
        }
    }

    @Test("OriginServer: with .wait a second connection is served after the first has ended")
    func single() async throws {
        var configuration = OriginServer.Configuration()
        configuration.limit = ConnectionLimit(1, .wait)
        configuration.keepsAlive = false
        try await OriginServer.with(configuration) { server in
            let gate = Gate()
            server.serve("/f", Resource(size: 10))
            server.script("/f", [.hold(after: 5, gate)])
            let first = try await RawClient.connect(server.port)
            try await first.get("/f")
            await gate.arrived()
            let second = try await RawClient.connect(server.port)
            try await second.get("/f")
            try await server.waitFor { $0.acceptedConnections == 2 }
            #expect(server.traffic.requestCount == 1)
            gate.open()
            #expect(Response(await first.rest().bytes).body.count == 10)
            #expect(Response(await second.rest().bytes).body.count == 10)
        }
    }

    @Test("OriginServer: greetings precede HTTP, one for each connection")
    func greetings() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 10))
            server.greet([.garbage([1, 2, 3]), .closeAtFirstBytes, .silence, .serve])
            #expect(await (try RawClient.connect(server.port)).rest().bytes == [1, 2, 3])
            let second = try await RawClient.connect(server.port)
            try await second.get("/f")
            #expect(await second.rest().bytes.isEmpty)
            let third = try await RawClient.connect(server.port)
            try await third.get("/f")
            // Connections are greeted on event loops of their own: the next one could be quicker.
            try await server.waitFor { $0.acceptedConnections == 3 }
            let fourth = try await RawClient.connect(server.port)
            try await fourth.get("/f")
            #expect(await fourth.response().status == 200)
            #expect(server.requests.count == 1)
        }
    }

    @Test("OriginServer: shutdown closes the port and ends pending waits")
    func shutdown() async throws {
        let server = try await OriginServer.start()
        async let waiting = server.waitFor { $0.requestCount == 99 }
        let client = try await RawClient.connect(server.port)
        try await server.waitFor { $0.openConnections == 1 }
        await server.shutdown()
        _ = try await waiting
        #expect(await client.rest().end != nil)
        await #expect(throws: (any Error).self) { _ = try await RawClient.connect(server.port) }
    }

    @Test("OriginServer: Basic, Digest and cookies are demanded")
    func access() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 10))
            let client = try await RawClient.connect(server.port)
            server.always("/f", .basicAuth("Aladdin", "open sesame"))
            try await client.get("/f")
            let refused = await client.response()
            #expect(refused.status == 401 && refused["WWW-Authenticate"] == "Basic realm=\"ferry\"")
            try await client.get("/f", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
            #expect(await client.response().status == 200)
            server.always("/f", .requireCookie("a", "b"))
            try await client.get("/f", "Cookie: x=y; a=b")
            #expect(await client.response().status == 200)
            try await client.get("/f", "Cookie: x=y")
            #expect(await client.response().status == 403)
            server.always("/f", .digestAuth("Mufasa", "Circle Of Life"))
            try await client.get("/f")
            #expect(await client.response()["WWW-Authenticate"]?.hasPrefix("Digest realm=\"ferry\"") == true)
        }
    }
}
