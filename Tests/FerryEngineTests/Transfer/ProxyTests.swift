import FerryCore
import FerryEngine
import FerryTesting
import Testing

@Suite("Proxies", .timeLimit(.minutes(30)))
struct ProxyTests {
    private func withProxy(
        credentials: (user: String, password: String)? = nil, userInfo: String = "",
        certificate: Certificate? = nil, refusesConnectToPort: Int? = nil,
        _ body: (OriginServer, ProxyServer, HTTPTransport) async throws -> Void
    ) async throws {
        let proxy = try await ProxyServer.start(
            credentials: credentials, hosts: ["files.test": "127.0.0.1"], refusesConnectToPort: refusesConnectToPort)
        var settings = TransferSettings(proxy: try ProxySettings(explicit: "http://\(userInfo)127.0.0.1:\(proxy.port)"))
        settings.insecure = true
        var configuration = OriginServer.Configuration()
        configuration.certificate = certificate
        do {
            try await withOrigin(configuration, settings: settings) { server, transport in
                server.serve("/f", Resource(size: 100_000, seed: 4))
                try await body(server, proxy, transport)
            }
        } catch {
            await proxy.shutdown()
            throw error
        }
        await proxy.shutdown()
    }

    @Test("HTTP proxy: an http request is sent to the proxy with its absolute URL, without a tunnel")
    func forward() async throws {
        try await withProxy(credentials: ("u", "p"), userInfo: "u:p@") { server, proxy, transport in
            let url = try DownloadURL("http://files.test:\(server.port)/f?x=1")
            for _ in 0..<2 {
                let response = try await transport.fetch(TransferRequest(url: url))
                #expect(response.head.status == 200)
                #expect(try await response.body.collect().count == 100_000)
            }
            let seen = try #require(proxy.requests.first)
            #expect(seen.method == "GET")
            #expect(seen.target == url.text)
            #expect(seen["Host"] == "files.test:\(server.port)")
            #expect(seen["Proxy-Authorization"] == "Basic dTpw")
        }
    }

    @Test("HTTP proxy: an https request uses a tunnel, and the origin never receives the proxy's credentials")
    func tunnel() async throws {
        try await withProxy(credentials: ("u", "p"), userInfo: "u:p@", certificate: .good) { server, proxy, transport in
            let url = try DownloadURL("https://files.test:\(server.port)/f")
            let response = try await transport.fetch(TransferRequest(url: url))
            #expect(try await response.body.collect().count == 100_000)
            #expect(proxy.requests.first?.method == "CONNECT")
            #expect(proxy.requests.first?.target == "files.test:\(server.port)")
            #expect(server.requests.first?.head["Proxy-Authorization"] == nil)
            #expect(server.requests.first?.head.target == "/f")
        }
    }

    @Test(
        "HTTP proxy: a proxy that demands credentials gives a permanent failure that names it",
        arguments: [nil, Certificate.good])
    func credentials(certificate: Certificate?) async throws {
        try await withProxy(credentials: ("u", "p"), certificate: certificate) { server, proxy, transport in
            let failure = await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
            #expect(failure?.kind == .proxy)
            #expect(failure?.isTransient == false)
            #expect(failure?.message.contains("127.0.0.1:\(proxy.port)") == true)
        }
    }

    @Test("HTTP proxy: a proxy that refuses a tunnel gives a failure that names it")
    func refusal() async throws {
        try await withProxy(certificate: .good) { server, proxy, transport in
            // The tunnel's target port has no listener.
            try await server.setListening(false)
            let failure = await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
            #expect(failure?.kind == .proxy)
            #expect(failure?.message.contains(":\(proxy.port)") == true)
        }
    }

    @Test("HTTP proxy: an unreachable proxy gives a transient failure that names it", arguments: ["http", "https"])
    func absent(scheme: String) async throws {
        try await OriginServer.with { server in
            try await server.setListening(false)
            let settings = TransferSettings(proxy: try ProxySettings(explicit: "http://127.0.0.1:\(server.port)"))
            let transport = HTTPTransport(settings)
            let failure = await transport.failure(of: TransferRequest(url: try DownloadURL("\(scheme)://files.test/f")))
            #expect(failure?.kind == .proxy)
            #expect(failure?.isTransient == true)
            #expect(failure?.message == "proxy http://127.0.0.1:\(server.port): connection refused")
            await transport.shutdown()
        }
    }

    @Test("SOCKS proxy: a server that does not speak SOCKS gives a proxy failure")
    func notSOCKS() async throws {
        try await OriginServer.with { server in
            server.greet([.garbage(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))])
            let settings = TransferSettings(proxy: try ProxySettings(explicit: "socks5://127.0.0.1:\(server.port)"))
            let transport = HTTPTransport(settings)
            let failure = await transport.failure(of: TransferRequest(url: try DownloadURL("http://files.test/f")))
            #expect(failure?.kind == .proxy)
            await transport.shutdown()
        }
    }

    @Test(
        "SOCKS proxy: host names are sent unresolved, and the body arrives whole", arguments: [nil, Certificate.good])
    func socks(certificate: Certificate?) async throws {
        let proxy = try await SOCKSServer.start(hosts: ["files.test": "127.0.0.1", "nobody.test": "127.77.0.9"])
        var settings = TransferSettings(proxy: try ProxySettings(explicit: proxy.url))
        settings.insecure = true
        var configuration = OriginServer.Configuration()
        configuration.certificate = certificate
        try await withOrigin(configuration, settings: settings) { server, transport in
            server.serve("/f", Resource(size: 100_000, seed: 4))
            let scheme = certificate == nil ? "http" : "https"
            let url = try DownloadURL("\(scheme)://files.test:\(server.port)/f")
            for _ in 0..<2 {
                let response = try await transport.fetch(TransferRequest(url: url))
                #expect(try await response.body.collect().count == 100_000)
            }
            #expect(proxy.targets == ["files.test:\(server.port)"])
            // That address has no listener, and the proxy reports it. A released port may be another server's at once.
            let nobody = try DownloadURL("\(scheme)://nobody.test:\(server.port)/f")
            let failure = await transport.failure(of: TransferRequest(url: nobody))
            #expect(failure?.kind == .proxy)
            #expect(failure?.message.hasPrefix("proxy \(proxy.url): ") == true, "\(failure?.message ?? "")")
        }
        await proxy.shutdown()
    }

    /// The message named the origin, as if that had no address, and the request was retried as often as after a broken
    /// connection.
    @Test(
        "HTTP proxy: a proxy name that does not exist gives a DNS failure that names the proxy",
        arguments: ["http", "https"])
    func missingName(scheme: String) async throws {
        let settings = TransferSettings(proxy: try ProxySettings(explicit: "http://no-such-host.invalid:3128"))
        let transport = HTTPTransport(settings)
        let failure = await transport.failure(of: TransferRequest(url: try DownloadURL("\(scheme)://127.0.0.1:9/f")))
        guard case .dns = failure?.kind else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(failure?.message.hasPrefix("proxy http://no-such-host.invalid:3128: ") == true)
        #expect(failure?.message.contains("127.0.0.1") == false)
        await transport.shutdown()
    }
}
