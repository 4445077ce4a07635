import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry

/// TLS, and connections that fail (A26, A43, A44).
@Suite("TLS and connections that fail", .timeLimit(.minutes(30)))
struct SecureRowTests {
    private static func tls(_ certificate: Certificate, isOld: Bool = false) -> OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.certificate = certificate
        configuration.isOldTLS = isOld
        return configuration
    }

    @Test("TLS: a close without close_notify does not end a body, a close with it does (A26)")
    func closeNotify() async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.closeDelimited(.cut)], then: .closeDelimited(.close))
            let outcome = try await shop.get("/a", engine: shop.engine()) { $0.transfer.insecure = true }
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count >= 2)
            #expect(outcome.retries == 1)
        }
    }

    enum Evidence: CaseIterable { case digest, size }

    @Test(
        "TLS: without close_notify a digest or the size proves the end of a body without a length (A75)",
        arguments: Evidence.allCases)
    func proven(evidence: Evidence) async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Resource(size: 3_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .closeDelimited(.cut))
            let digest = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) { request in
                switch evidence {
                case .digest: request.checksum = digest
                case .size: request.expectedBytes = resource.size
                }
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == (evidence == .digest ? 1 : 0))
        }
    }

    @Test("TLS: without close_notify a body without a length is not whole if it has another size than requested")
    func unproven() async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Resource(size: 3_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .closeDelimited(.cut))
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) {
                ($0.expectedBytes, $0.maxRetries) = (resource.size + 1, 1)
            }
            #expect(outcome.error?.code == .network)
        }
    }

    /// A digest that differed at the assumed end ended the download, although the server had not sent the whole file.
    @Test(
        "TLS: bodies cut off at one byte that do not have the digest are retried as other cuts (A75)",
        arguments: [true, false])
    func cutTwice(hasValidators: Bool) async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Self.unranged(hasValidators)
            shop.server.serve("/a", resource)
            let cut = Behaviour.closeDelimited(.cut).and(.cut(after: 1_000_000, .cut))
            // Each but the first is compared with the digest. Then the end, twice without close_notify.
            shop.server.script("/a", [cut, cut, cut, cut, cut], then: .closeDelimited(.cut))
            let digest = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) {
                $0.checksum = digest
            }
            try shop.expect(outcome.file.path, is: resource)
            // With validators the second response is left, because it ignores If-Range.
            #expect(try outcome.file.proof == .digest && outcome.retries == (hasValidators ? 5 : 6))
            #expect(outcome.says("do not match the digest"), "\(outcome.reasons)")
            #expect(shop.names == ["a"])
        }
    }

    @Test("TLS: a body that is always cut off at one byte ends as a network failure, not with a wrong digest")
    func cutAlways() async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Self.unranged(false)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .closeDelimited(.cut).and(.cut(after: 1_000_000, .cut)))
            let digest = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let limited: (inout DownloadManager.Configuration) -> Void = {
                ($0.transfer.insecure, $0.maxRetries) = (true, 3)
            }
            let cut = try await shop.get("/a", engine: shop.engine(), limited) { $0.checksum = digest }
            #expect(cut.error?.code == .network && cut.retries == 3, "\(String(describing: cut.error))")
            // The next run with the bytes that are left takes none of them for the file.
            shop.server.always("/a", .closeDelimited(.close))
            let whole = try await shop.get("/a", engine: shop.engine(), limited) { $0.checksum = digest }
            try shop.expect(whole.file.path, is: resource)
        }
    }

    @Test("TLS: two bodies cut off at one byte are not whole if a size was requested that they do not have")
    func cutBeforeSize() async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Self.unranged(true)
            shop.server.serve("/a", resource)
            let cut = Behaviour.closeDelimited(.cut).and(.cut(after: 1_000_000, .cut))
            shop.server.script("/a", [cut, cut, cut], then: .closeDelimited(.cut))
            let digest = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) {
                ($0.checksum, $0.expectedBytes) = (digest, resource.size)
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries == 2)
        }
    }

    @Test("TLS: a stream goes on after bodies that were cut off at one byte and do not have the digest")
    func cutStream() async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Self.unranged(true)
            shop.server.serve("/a", resource)
            let cut = Behaviour.closeDelimited(.cut).and(.cut(after: 1_000_000, .cut))
            shop.server.script("/a", [cut, cut, cut], then: .closeDelimited(.close))
            let digest = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let output = shop.path("output")
            let descriptor = try FileDescriptor.open(
                FilePath(output), .writeOnly, options: .create, permissions: .ownerReadWrite)
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) {
                ($0.checksum, $0.destination) = (digest, .stream(descriptor.rawValue))
            }
            try descriptor.close()
            #expect(outcome.error == nil && outcome.retries == 2, "\(String(describing: outcome.error))")
            shop.expect(output, is: resource)
        }
    }

    private static func unranged(_ hasValidators: Bool) -> Resource {
        hasValidators
            ? Resource(size: 3_000_000, ranges: .ignored)
            : Resource(size: 3_000_000, etag: nil, lastModified: nil, ranges: .ignored)
    }

    @Test(
        "TLS: an invalid certificate or an old version fails without a retry, before a request is sent (A43)",
        arguments: [(Certificate.expired, false), (.selfSigned, false), (.wrongHost, false), (.good, true)])
    func certificates(certificate: Certificate, isOld: Bool) async throws {
        try await Workshop.run(Self.tls(certificate, isOld: isOld)) { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            let authority = shop.path("ca.pem")
            try shop.write(OriginServer.caPEM, to: "ca.pem")
            let outcome = try await shop.get("/a", engine: shop.engine()) { $0.transfer.caFile = authority }
            #expect(outcome.error?.code == .certificate)
            #expect(outcome.retries == 0)
            // What is wrong with a certificate that is not trusted is read by another handshake.
            let connections = [.expired, .selfSigned].contains(certificate) ? 2 : 1
            #expect(shop.server.requests.isEmpty && shop.server.traffic.acceptedConnections == connections)
            #expect(shop.names == ["ca.pem"])
        }
    }

    @Test("TLS: a certificate that becomes invalid fails without a retry, and the held bytes stay (A43)")
    func wentBad() async throws {
        let resource = Resource(size: 12_000_000)
        try await Workshop.run(Self.tls(.good)) { shop in
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(503, retryAfter: "3600"))
            let authority = shop.path("ca.pem")
            try shop.write(OriginServer.caPEM, to: "ca.pem")
            let first = shop.manager(engine: shop.engine()) { $0.transfer.caFile = authority }
            let download = try await first.download(try shop.request("/a"))
            await shop.reach(5_000_000, download)
            await first.shutdown()
            let second = try await shop.get("/a", engine: shop.engine())
            #expect(second.error?.code == .certificate)
            #expect(second.retries == 0)
            #expect(shop.names == ["a.part", "a.part.ferry", "ca.pem"])
            #expect(try shop.held("a", of: resource) == 5_000_000)
        }
    }

    @Test(
        "TLS: a connection closed during the handshake is retried (A44)",
        arguments: [Greeting.close, .reset, .closeAtFirstBytes])
    func handshake(greeting: Greeting) async throws {
        try await Workshop.run(Self.tls(.good)) { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.greet([greeting, greeting])
            let outcome = try await shop.get("/a", engine: shop.engine()) { $0.transfer.insecure = true }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.retries >= 1)
        }
    }

    @Test("Connect: when a refusing server listens again, the held bytes are resumed (A44)")
    func refused() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 12_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 5_000_000)
            let before = shop.server.bodyBytes()
            try await shop.server.setListening(false)
            let manager = shop.manager(engine: shop.engine()) { $0.maxRetries = nil }
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(download) { if case .waiting(.retry) = $0 { true } else { false } }
            try await shop.server.setListening(true)
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
            #expect(shop.server.bodyBytes() - before == 7_000_000)
        }
    }

    @Test("Connect: refused connections end after the maximum of attempts with that reason (A44)")
    func nobody() async throws {
        try await Workshop.run { shop in
            try await shop.server.setListening(false)
            let outcome = try await shop.get("/a", engine: shop.engine()) { $0.maxRetries = 2 }
            #expect(outcome.error?.code == .network)
            #expect(outcome.retries == 2)
            #expect(outcome.says("connection refused"), "\(outcome.reasons)")
            #expect(shop.names == [])
        }
    }

    @Test("Connect: an unknown host name ends after a few attempts with its name (A44)")
    func noName() async throws {
        try await Workshop.run { shop in
            let url = try DownloadURL("http://no-such-host.invalid/a")
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxRetries = 4 }) {
                $0.sources = [url]
            }
            #expect(outcome.error?.code == .network)
            #expect(outcome.retries <= 4)
            #expect(outcome.says("no-such-host.invalid"))
        }
    }

    /// Such an address was retried, as a host name without an address is.
    @Test(
        "Connect: an address of the unwanted family fails without a retry, with the reason",
        arguments: [("http://[::1]:9/a", TransferSettings.AddressFamily.v4), ("http://127.0.0.1:9/a", .v6)])
    func family(url: String, family: TransferSettings.AddressFamily) async throws {
        try await Workshop.run { shop in
            let url = try DownloadURL(url)
            let outcome = try await shop.get(
                "/a", engine: shop.engine(), { $0.transfer.addressFamily = family }, { $0.sources = [url] })
            #expect(outcome.error?.code == .network)
            #expect(outcome.retries == 0)
            #expect(outcome.says("not an IPv\(family == .v4 ? 4 : 6) address"), "\(outcome.reasons)")
        }
    }
}
