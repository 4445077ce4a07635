import FerryCore
import FerryTesting
import Synchronization
import Testing

@testable import FerryEngine

@Suite("Connections of downloads with rules of their own", .timeLimit(.minutes(30)))
struct ConnectionRulesTests {
    private func request(
        _ url: DownloadURL, _ change: (inout ConnectionRules) throws -> Void
    ) throws -> TransferRequest {
        var request = TransferRequest(url: url)
        try change(&request.connection)
        return request
    }

    @Test("Connection rules: each request uses its own proxy, the transport's, or none")
    func proxies() async throws {
        let (own, common) = (try await ProxyServer.start(), try await ProxyServer.start())
        let settings = TransferSettings(proxy: try ProxySettings(explicit: common.url))
        try await withOrigin(settings: settings) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            let url = try server.downloadURL("/f")
            func fetch(_ change: (inout ConnectionRules) throws -> Void) async throws -> [Int] {
                let response = try await transport.fetch(try request(url, change))
                #expect(try await response.body.collect().count == 100)
                return [own.requests.count, common.requests.count, server.requests.count]
            }
            #expect(try await fetch { _ in } == [0, 1, 1])
            #expect(try await fetch { $0.proxy = try ProxyChoice(parsing: own.url) } == [1, 1, 2])
            #expect(try await fetch { $0.proxy = .direct } == [1, 1, 3])
            #expect(try await fetch { _ in } == [1, 2, 4])
        }
        await own.shutdown()
        await common.shutdown()
    }

    @Test("Connection rules: a request that accepts any certificate leaves no connection for one that does not")
    func trust() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        try await withOrigin(configuration, settings: TransferSettings()) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            let url = try server.downloadURL("/f")
            let insecure = try request(url) { $0.insecure = true }
            #expect(try await transport.fetch(insecure).body.collect().count == 100)
            #expect(await transport.failure(of: TransferRequest(url: url))?.kind == .certificate)
            let trusting = try request(url) { $0.certificates = OriginServer.caPEM }
            #expect(try await transport.fetch(trusting).body.collect().count == 100)
            let damaged = try request(url) { $0.certificates = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n" }
            #expect(await transport.failure(of: damaged)?.kind == .certificate)
            #expect(await transport.failure(of: TransferRequest(url: url))?.kind == .certificate)
        }
    }

    @Test("Connection rules: User-Agent and cookies are sent after redirects too, cookies to their own domain only")
    func fields() async throws {
        try await withOrigin(settings: TransferSettings()) { server, transport in
            server.serve("/a", Resource(size: 1, seed: 1))
            server.serve("/b", Resource(size: 100, seed: 1))
            server.always("/a", .redirect(to: server.url("/b", host: "localhost")))
            let own = try request(try server.downloadURL("/a", host: "127.0.0.1")) {
                $0.userAgent = "own/1"
                $0.cookies = CookieJar(netscapeFile: "127.0.0.1\tFALSE\t/\tFALSE\t0\tid\tx\n")
            }
            _ = try await transport.fetch(own).body.collect()
            let heads = server.requests.map(\.head)
            #expect(heads.map { $0["User-Agent"] } == ["own/1", "own/1"])
            #expect(heads.map { $0["Cookie"] } == ["id=x", nil])
        }
    }

    @Test("Shared headers: a redirect to another origin gets those of that origin alone, and a trace shows no secret")
    func shared() async throws {
        var settings = TransferSettings()
        settings.tracesRequests = true
        try await withOrigin(settings: settings) { server, transport in
            server.serve("/a", Resource(size: 1, seed: 1))
            server.serve("/b", Resource(size: 100, seed: 1))
            server.always("/a", .redirect(to: server.url("/b", host: "localhost")))
            let start = try server.downloadURL("/a", host: "127.0.0.1")
            var changed = settings
            try changed.setHeader("X-Key", to: "one", for: [Origin(of: start)])
            let other = Origin(of: try server.downloadURL("/b", host: "localhost"))
            try changed.setHeader("X-Other", to: "two", for: [other])
            try changed.setHeader("Accept-Language", to: "de")
            transport.use(changed)
            let notes = Mutex<[String]>([])
            var request = TransferRequest(url: start)
            request.trace = { note in notes.withLock { $0.append(note.text(in: .english)) } }
            _ = try await transport.fetch(request).body.collect()
            let heads = server.requests.map(\.head)
            #expect(heads.map { $0["X-Key"] } == ["one", nil])
            #expect(heads.map { $0["X-Other"] } == [nil, "two"])
            #expect(heads.map { $0["Accept-Language"] } == ["de", nil])
            let trace = notes.withLock { $0 }.joined(separator: "\n")
            #expect(trace.contains("X-Key: …") && trace.contains("X-Other: …") && trace.contains("Accept-Language: de"))
        }
    }

    @Test("Connection rules: an address family of its own is refused where the URL has an address of the other one")
    func family() async throws {
        try await withOrigin(settings: TransferSettings()) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            let url = try server.downloadURL("/f", host: "127.0.0.1")
            let six = try request(url) { $0.addressFamily = .v6 }
            #expect(await transport.failure(of: six)?.kind == .wrongFamily)
            #expect(await transport.failure(of: try request(url) { $0.addressFamily = .v4 }) == nil)
        }
    }

    /// The proxy would be a way to the addresses that are refused.
    @Test("Connection rules: a transport for public addresses only refuses a proxy of a request, and uses its own")
    func publicOnly() async throws {
        let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
        var settings = TransferSettings(proxy: try ProxySettings(explicit: proxy.url))
        settings.allowsPrivate = false
        try await withOrigin(settings: settings) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            let url = try server.downloadURL("/f", host: "files.test")
            let own = try request(url) { $0.proxy = try ProxyChoice(parsing: proxy.url) }
            #expect(await transport.failure(of: own)?.kind == .privateAddress)
            #expect(proxy.requests.isEmpty)
            #expect(await transport.failure(of: TransferRequest(url: url)) == nil)
            let direct = try request(try server.downloadURL("/f")) { $0.proxy = .direct }
            #expect(await transport.failure(of: direct)?.kind == .privateAddress)
        }
        await proxy.shutdown()
    }

    @Test("Connection rules: a request that forbids private addresses itself may have a proxy at one")
    func ownPublicOnly() async throws {
        let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
        try await withOrigin(settings: TransferSettings()) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            var own = try request(try server.downloadURL("/f", host: "files.test")) {
                $0.proxy = try ProxyChoice(parsing: proxy.url)
            }
            own.allowsPrivate = false
            #expect(await transport.failure(of: own) == nil)
            #expect(proxy.requests.count == 1)
        }
        await proxy.shutdown()
    }

    @Test("HTTPTransport: changed settings apply to the next request")
    func changed() async throws {
        let proxy = try await ProxyServer.start()
        try await withOrigin(settings: TransferSettings()) { server, transport in
            server.serve("/f", Resource(size: 100, seed: 1))
            let plain = TransferRequest(url: try server.downloadURL("/f"))
            #expect(await transport.failure(of: plain) == nil)
            transport.use(TransferSettings(proxy: try ProxySettings(explicit: proxy.url)))
            #expect(await transport.failure(of: plain) == nil)
            #expect(proxy.requests.count == 1 && server.requests.count == 2)
        }
        await proxy.shutdown()
    }

    @Test("HTTPTransport: a body outlives its client, of which a bounded number is kept")
    func evicted() async throws {
        try await withOrigin(settings: TransferSettings()) { server, transport in
            let size: Int64 = 30_000_000
            server.serve("/big", Resource(size: size, seed: 1))
            server.serve("/f", Resource(size: 100, seed: 1))
            let first = try await transport.fetch(TransferRequest(url: try server.downloadURL("/big")))
            for number in 1...(HTTPTransport.mostClients + 4) {
                let other = try request(try server.downloadURL("/f")) { $0.connectTimeout = .seconds(number * 1000) }
                #expect(await transport.failure(of: other) == nil)
            }
            try await server.waitFor { $0.openConnections <= HTTPTransport.mostClients + 1 }
            #expect(try await first.body.collect().count == Int(size))
        }
    }
}
