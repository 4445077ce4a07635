import FerryTesting
import Foundation
import NIOCore
import NIOPosix
import Testing

/// The proxy and the relay.
@Suite(.timeLimit(.minutes(30)))
struct NetworkTests {
    @Test("ProxyServer: absolute requests are forwarded, CONNECT is tunnelled, and both are counted")
    func proxy() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 100_000))
            let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
            let absolute = try await RawClient.connect(proxy.port)
            try await absolute.get("http://files.test:\(server.port)/f")
            #expect(Response(await absolute.rest().bytes).body == DeterministicBytes(seed: 1).bytes(0..<100_000))
            let tunnel = try await RawClient.connect(proxy.port)
            try await tunnel.send("CONNECT files.test:\(server.port) HTTP/1.1\r\n\r\n")
            #expect(await tunnel.response().status == 200)
            try await tunnel.get("/f", "Range: bytes=5-9")
            #expect(await tunnel.response().body == DeterministicBytes(seed: 1).bytes(5..<10))
            #expect(proxy.requests.map(\.method) == ["GET", "CONNECT"])
            #expect(server.requests.map(\.path) == ["/f", "/f"])
            await proxy.shutdown()
        }
    }

    @Test("ProxyServer: credentials are demanded and not forwarded to the origin")
    func proxyCredentials() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 10))
            let proxy = try await ProxyServer.start(credentials: ("u", "p"))
            let first = try await RawClient.connect(proxy.port)
            try await first.get("http://127.0.0.1:\(server.port)/f")
            #expect(Response(await first.rest().bytes).status == 407)
            let second = try await RawClient.connect(proxy.port)
            try await second.get("http://127.0.0.1:\(server.port)/f", "Proxy-Authorization: Basic dTpw")
            #expect(Response(await second.rest().bytes).status == 200)
            #expect(server.requests.count == 1)
            #expect(server.requests[0].head["Proxy-Authorization"] == nil)
            await proxy.shutdown()
        }
    }

    @Test("Relay: it forwards, freezes, cuts and refuses connections")
    func relay() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 100_000))
            let relay = try await Relay.start(to: server.port)
            let client = try await RawClient.connect(relay.port)
            try await client.get("/f")
            #expect(await client.response().body.count == 100_000)
            relay.freeze()
            try await client.get("/f")
            #expect(server.requests.count == 1)
            relay.thaw()
            #expect(await client.response().body.count == 100_000)
            relay.cut()
            #expect(await client.rest().end == .reset)
            try await relay.setRefusing(true)
            await #expect(throws: (any Error).self) { _ = try await RawClient.connect(relay.port) }
            try await relay.setRefusing(false)
            let again = try await RawClient.connect(relay.port)
            try await again.get("/f", "Range: bytes=0-0")
            #expect(await again.response().status == 206)
            await relay.shutdown()
        }
    }
}
