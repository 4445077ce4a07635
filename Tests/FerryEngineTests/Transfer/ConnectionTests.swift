import FerryCore
import FerryEngine
import FerryTesting
import Testing

@Suite("HTTPTransport connections", .timeLimit(.minutes(30)))
struct ConnectionTests {
    @Test("HTTPTransport: a server that sends nothing fails with headTimeout at the limit (A28)")
    func silence() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .silence)
            let request = TransferRequest(url: try server.downloadURL("/f"), headLimit: .milliseconds(100))
            #expect(await transport.failure(of: request)?.kind == .headTimeout)
            // A connection opened only after the limit has no request, and is kept for the next one.
            if !server.requests.isEmpty { try await server.waitFor { $0.openConnections == 0 } }
        }
    }

    @Test("HTTPTransport: a port without a listener fails as refused (A44)")
    func refused() async throws {
        try await withOrigin { server, transport in
            let url = try server.downloadURL("/f")
            try await server.setListening(false)
            let failure = await transport.failure(of: TransferRequest(url: url))
            #expect(failure?.kind == .refused)
            let named = try DownloadURL("http://localhost:\(server.port)/f")
            #expect(await transport.failure(of: TransferRequest(url: named))?.kind == .refused)
        }
    }

    @Test("HTTPTransport: a host name that does not exist fails as a DNS error (A44)")
    func noSuchHost() async throws {
        let transport = HTTPTransport(TransferSettings())
        let failure = await transport.failure(of: TransferRequest(url: try DownloadURL("http://no-such-host.invalid/")))
        guard case .dns = failure?.kind else {
            Issue.record("\(String(describing: failure))")
            return
        }
        await transport.shutdown()
    }

    @Test(
        "HTTPTransport: cancelling a task that awaits the head, or is midway through a body, closes the connection",
        arguments: [false, true])
    func cancelling(isMidway: Bool) async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 1_000_000, seed: 1))
            server.always("/f", isMidway ? .hold(after: 1000, Gate()) : .silence)
            let request = TransferRequest(url: try server.downloadURL("/f"))
            // owner: this test, which waits for its value
            let task = Task { await transport.failure(of: request) }
            try await server.waitFor { isMidway ? $0.bodyBytes >= 1000 : $0.requests.count == 1 }
            task.cancel()
            #expect(await task.value?.kind == .cancelled)
            try await server.waitFor { $0.openConnections == 0 }
        }
    }

    @Test("HTTPTransport: an unread body that is dropped closes its connection; one read to the end keeps it")
    func dropping() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 50_000_000, seed: 1))
            server.serve("/g", Resource(size: 1000, seed: 1))
            do {
                let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
                #expect(response.head.status == 200)
            }
            try await server.waitFor { $0.openConnections == 0 && $0.requests.count == 1 }
            // A connection returns to the pool a moment after its body's end, so that a request may need another one.
            var accepted: Int
            repeat {
                accepted = server.traffic.acceptedConnections
                _ = try await transport.fetch(TransferRequest(url: try server.downloadURL("/g"))).body.collect()
            } while server.traffic.acceptedConnections > accepted
            #expect(accepted >= 2)
            #expect(transport.connectionCount >= 1)
        }
    }

    @Test("HTTPTransport: a kept connection that the server has closed is replaced once without an error")
    func reused() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 1000, seed: 1))
            // The second request on the first connection gets nothing, the next one a response.
            server.script("/f", [.honest, .drop(.close)])
            let request = TransferRequest(url: try server.downloadURL("/f"))
            for _ in 0..<2 { #expect(try await transport.fetch(request).body.collect().count == 1000) }
            #expect(server.requests.count == 3)
            // A new connection that gets nothing is reported.
            server.script("/f", [], then: .drop(.close))
            #expect(await transport.failure(of: request)?.kind == .closed)
        }
    }

    @Test("HTTPTransport: leftover bytes on a kept connection are not a response; the request is sent again (A23)")
    func leftover() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 1000, seed: 1))
            server.script("/f", [.honest, .raw("the rest of what came before\n\n")])
            let request = TransferRequest(url: try server.downloadURL("/f"))
            for _ in 0..<2 { #expect(try await transport.fetch(request).body.collect().count == 1000) }
            #expect(server.requests.count == 3)
            // A new connection without HTTP is reported as malformed.
            server.script("/f", [], then: .raw("no HTTP\n\n"))
            let before = server.requests.count
            #expect(await transport.failure(of: request)?.kind == .malformed)
            #expect(server.requests.count - before <= 2)
        }
    }

    @Test("HTTPTransport: back-pressure leaves the body in the socket while it is not read")
    func pressure() async throws {
        var configuration = OriginServer.Configuration()
        configuration.sendBuffer = 65_536
        try await withOrigin(configuration) { server, transport in
            server.serve("/f", Resource(size: 1_000_000_000, seed: 1))
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
            _ = try await response.body.next()
            #expect(server.bodyBytes() < 50_000_000)
            _ = try await response.body.next()
        }
    }

    @Test("HTTPTransport: shutdown() fails the response under way and every later request")
    func shutdown() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 1_000_000, seed: 1))
            let gate = Gate()
            server.always("/f", .hold(after: 1000, gate))
            let transport = HTTPTransport(TransferSettings())
            let request = TransferRequest(url: try server.downloadURL("/f"))
            let response = try await transport.fetch(request)
            await transport.shutdown()
            await #expect(throws: TransferFailure.self) { try await response.body.collect() }
            #expect(await transport.failure(of: request)?.kind == .cancelled)
            await transport.shutdown()
        }
    }

    @Test("HTTPTransport: a released transport closes its connections without shutdown()")
    func released() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 1000, seed: 1))
            do {
                let transport = HTTPTransport(TransferSettings())
                _ = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f"))).body.collect()
                #expect(server.traffic.openConnections == 1)
            }
            try await server.waitFor { $0.openConnections == 0 }
        }
    }

    @Test(
        "HTTPTransport: the address family of -4 and -6 limits literal addresses and host names",
        arguments: [TransferSettings.AddressFamily.v4, .v6])
    func families(family: TransferSettings.AddressFamily) async throws {
        for address in ["127.0.0.1", "::1"] {
            var configuration = OriginServer.Configuration()
            configuration.addresses = [address]
            var settings = TransferSettings()
            settings.addressFamily = family
            try await withOrigin(configuration, settings: settings) { server, transport in
                server.serve("/f", Resource(size: 10, seed: 1))
                let isRight = (family == .v4) == (address == "127.0.0.1")
                let literal = await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
                #expect(literal?.kind == (isRight ? nil : .wrongFamily))
                let named = try server.downloadURL("/f", host: "localhost")
                let failure = await transport.failure(of: TransferRequest(url: named))
                // Not every machine gives localhost an IPv6 address. The other family is never used; another test's server may
                // have the port there, and answer.
                if family == .v4, isRight { #expect(failure == nil) }
                if !isRight { #expect(server.requests.isEmpty) }
            }
        }
    }

    @Test("HTTPTransport: 32 concurrent fetches complete over at most 16 connections")
    func many() async throws {
        var settings = TransferSettings()
        settings.connectionsPerHost = 16
        // A busy machine may take long.
        settings.connectTimeout = .seconds(600)
        try await withOrigin(settings: settings) { server, transport in
            let resource = Resource(size: 4_000_000, seed: 2)
            server.serve("/f", resource)
            var request = TransferRequest(url: try server.downloadURL("/f"))
            // Half of them wait for the others; the test does not depend on the time.
            request.headLimit = .seconds(600)
            let sizes = await withTaskGroup(of: Int.self) { [request] group in
                for _ in 0..<32 {
                    group.addTask { (try? await transport.fetch(request).body.collect().count) ?? -1 }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes.allSatisfy { $0 == 4_000_000 })
            #expect(server.traffic.peakConnections <= 16)
        }
    }
}
