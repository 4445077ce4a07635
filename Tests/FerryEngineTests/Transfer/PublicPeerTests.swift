import FerryCore
import FerryTesting
import Testing

@testable import FerryEngine

@Suite("Connections to public addresses only", .timeLimit(.minutes(30)))
struct PublicPeerTests {
    private static var strict: TransferSettings {
        var settings = TransferSettings()
        settings.allowsPrivate = false
        return settings
    }

    @Test(
        "Public addresses only: a private address in the URL is refused for good, without a connection",
        arguments: ["127.0.0.1", "[::1]"])
    func literal(host: String) async throws {
        try await withOrigin(settings: Self.strict) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            let url = try DownloadURL("http://\(host):\(server.port)/f?key")
            let failure = await transport.failure(of: TransferRequest(url: url))
            #expect(failure?.kind == .privateAddress)
            #expect(failure?.isTransient == false)
            #expect(failure?.message.contains("key") == false)
            #expect(server.traffic.acceptedConnections == 0)
        }
    }

    @Test("Public addresses only: a name with a private address is refused without a connection")
    func name() async throws {
        try await withOrigin(settings: Self.strict) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            let request = TransferRequest(url: try server.downloadURL("/f", host: "localhost"))
            #expect(await transport.failure(of: request)?.kind == .privateAddress)
            #expect(server.traffic.acceptedConnections == 0)
        }
    }

    /// DNS rebinding: the first lookup gives a public address, the connection has a private one.
    @Test("Public addresses only: a name that becomes private at connect time gets no request")
    func rebinding() async throws {
        for isEncrypted in [false, true] {
            var configuration = OriginServer.Configuration()
            if isEncrypted { configuration.certificate = .good }
            try await OriginServer.with(configuration) { server in
                server.serve("/f", Resource(size: 10, seed: 1))
                var settings = Self.strict
                settings.insecure = true
                let transport = HTTPTransport(settings) { _ in [IPAddress("93.184.215.14")].compactMap(\.self) }
                let request = TransferRequest(url: try server.downloadURL("/f", host: "localhost"))
                let failure = await transport.failure(of: request)
                #expect(failure?.kind == .privateAddress, "\(failure?.message ?? "")")
                #expect(failure?.isTransient == false)
                try await server.waitFor { $0.acceptedConnections >= 1 }
                #expect(server.requests.isEmpty)
                await transport.shutdown()
            }
        }
    }

    @Test("Public addresses only: a connection kept by a request without the rule is not reused")
    func reused() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 10, seed: 1))
            let transport = HTTPTransport(TransferSettings()) { _ in [IPAddress("93.184.215.14")].compactMap(\.self) }
            var request = TransferRequest(url: try server.downloadURL("/f", host: "localhost"))
            _ = try await transport.fetch(request).body.collect()
            request.allowsPrivate = false
            #expect(await transport.failure(of: request)?.kind == .privateAddress)
            #expect(server.requests.count == 1)
            request.allowsPrivate = true
            _ = try await transport.fetch(request).body.collect()
            #expect(server.requests.count == 2)
            await transport.shutdown()
        }
    }

    @Test(
        "Public addresses only: with a proxy names are not looked up, and redirects to private addresses refused"
    )
    func proxied() async throws {
        let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
        var settings = Self.strict
        settings.proxy = try ProxySettings(explicit: proxy.url)
        try await withOrigin(settings: settings) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.serve("/r", Resource(size: 10, seed: 1))
            let named = try server.downloadURL("/f", host: "files.test")
            #expect(try await transport.fetch(TransferRequest(url: named)).head.status == 200)
            for target in [server.url("/f"), server.url("/f", host: "localhost"), "http://169.254.169.254/"] {
                server.always("/r", .redirect(to: target))
                let led = TransferRequest(url: try server.downloadURL("/r", host: "files.test"))
                #expect(await transport.failure(of: led)?.kind == .privateAddress, "\(target)")
            }
            #expect(server.requests.filter { $0.path == "/f" }.count == 1)
        }
        await proxy.shutdown()
    }
}
