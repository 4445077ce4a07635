import FerryCore
import FerryTesting
import NIOCore
import Testing

@testable import FerryEngine

@Suite("TLS", .timeLimit(.minutes(30)))
struct TLSTests {
    private func configuration(_ certificate: Certificate) -> OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.certificate = certificate
        return configuration
    }

    private func failure(
        _ configuration: OriginServer.Configuration, caFile: String? = nil, insecure: Bool = false,
        behaviour: Behaviour = .honest, greetings: [Greeting] = []
    ) async throws -> TransferFailure? {
        var settings = TransferSettings()
        settings.caFile = caFile
        settings.insecure = insecure
        return try await withOrigin(configuration, settings: settings) { server, transport in
            server.serve("/f", Resource(size: 100_000, seed: 1))
            server.always("/f", behaviour)
            server.greet(greetings)
            return await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
        }
    }

    @Test("TLS: a certificate of the given authority is accepted for its name and its address")
    func good() async throws {
        try await withAuthorityFile { file in
            #expect(try await failure(configuration(.good), caFile: file) == nil)
            var settings = TransferSettings()
            settings.caFile = file
            try await withOrigin(configuration(.good), settings: settings) { server, transport in
                server.serve("/f", Resource(size: 10, seed: 1))
                let url = try server.downloadURL("/f", host: "127.0.0.1")
                #expect(await transport.failure(of: TransferRequest(url: url)) == nil)
            }
        }
    }

    @Test(
        "TLS: a certificate that is expired, self-signed, too early or for another name is refused for good, and why is said (A43)",
        arguments: [
            (Certificate.expired, ErrorPhrase.Key.certificateExpired, "the certificate expired on 2002-01-01"),
            (.selfSigned, .selfSigned, "self-signed, not issued by an authority"),
            (.early, .certificateNotYetValid, "not valid before 2100-01-01"),
            (.wrongHost, .otherName, "for another name"),
        ])
    func bad(certificate: Certificate, key: ErrorPhrase.Key, words: String) async throws {
        try await withAuthorityFile { file in
            let failure = try await failure(configuration(certificate), caFile: file)
            #expect(failure?.kind == .certificate)
            #expect(failure?.isTransient == false)
            #expect(failure?.phrase.key == key)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(failure.map { DownloadError($0) }?.suggestion != nil)
        }
    }

    @Test("TLS: where only public addresses may be connected to, no second connection asks for the certificate")
    func noInquiry() async throws {
        try await withOrigin(configuration(.expired)) { server, transport in
            let url = try server.downloadURL("/f")
            let route = ProxyRoute(for: url, settings: ProxySettings())
            let failure = TransferFailure(.certificate, ErrorPhrase(.untrusted, "h"))
            for (allowsPrivate, key) in [(true, ErrorPhrase.Key.certificateExpired), (false, .untrusted)] {
                var settings = TransferSettings()
                settings.allowsPrivate = allowsPrivate
                let refined = await transport.refined(failure, isUnsent: true, url: url, route: route, settings)
                #expect(refined.phrase.key == key)
            }
        }
    }

    /// The connection was read for five more seconds, until the server closed it: a file of 2 GB was fetched twice.
    @Test("TLS: a body dropped midway closes its connection and stops the server")
    func dropped() async throws {
        var settings = TransferSettings()
        settings.insecure = true
        try await withOrigin(configuration(.good), settings: settings) { server, transport in
            let size: Int64 = 2_000_000_000
            server.serve("/f", Resource(size: size, seed: 1))
            let url = try server.downloadURL("/f")
            let first = try await firstPiece(of: url, transport)
            #expect(first > 0)
            try await server.waitFor { $0.requestCount == 1 && $0.openConnections == 0 }
            #expect(server.bodyBytes() < size / 4)
        }
    }

    /// Reads one piece of a body and drops it.
    private func firstPiece(of url: DownloadURL, _ transport: HTTPTransport) async throws -> Int {
        let response = try await transport.fetch(TransferRequest(url: url))
        return try await response.body.next()?.readableBytes ?? 0
    }

    @Test("TLS: an unknown authority is refused, and accepted with --insecure (A43)")
    func unknownAuthority() async throws {
        #expect(try await failure(configuration(.good))?.kind == .certificate)
        #expect(try await failure(configuration(.good), insecure: true) == nil)
        #expect(try await failure(configuration(.expired), insecure: true) == nil)
    }

    @Test("TLS: a server that speaks only old TLS versions is refused (A43)")
    func oldTLS() async throws {
        var old = configuration(.good)
        old.isOldTLS = true
        #expect(try await failure(old, insecure: true)?.kind == .certificate)
    }

    @Test("TLS: a missing file of authorities is a certificate failure")
    func noFile() async throws {
        let failure = try await failure(configuration(.good), caFile: "/nowhere/ca.pem")
        #expect(failure?.kind == .certificate)
    }

    @Test(
        "TLS: a connection that ends in the handshake is a transient failure (A44)",
        arguments: [
            Greeting.close, .reset, .closeAtFirstBytes,
        ])
    func cutHandshake(greeting: Greeting) async throws {
        let failure = try await failure(configuration(.good), insecure: true, greetings: [greeting, greeting])
        #expect(failure?.kind == .tls || failure?.kind == .closed)
        #expect(failure?.isTransient == true)
    }

    @Test("TLS: a body without a length ends only with close_notify (A26)")
    func closeNotify() async throws {
        let tls = configuration(.good)
        #expect(try await failure(tls, insecure: true, behaviour: .closeDelimited(.close)) == nil)
        #expect(try await failure(tls, insecure: true, behaviour: .closeDelimited(.cut))?.kind == .broken)
        #expect(try await failure(tls, insecure: true, behaviour: .cut(after: 5000, .cut))?.kind == .broken)
    }
}
