import FerryCore
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds out why a certificate was not trusted, which the failed handshake does not report: another handshake reads the
/// certificates of the server and ends there. No request is sent.
struct CertificateInquiry: Sendable {
    /// The validity of a certificate, and its issuer.
    struct Certificate: Hashable, Sendable {
        var begin: Date
        var end: Date
        var isSelfSigned: Bool
    }

    let group: any EventLoopGroup
    /// The address to bind to; `nil` for any.
    let localAddress: String?
    /// The time that the server has to send its certificates.
    private static let limit = TimeAmount.seconds(10)

    /// Returns what is wrong with the certificates of a server; `nil` if it sent none.
    ///
    /// - Parameter name: The name of the server for the message.
    func phrase(host: String, port: Int, name: Reason, at now: Date) async -> ErrorPhrase? {
        guard let found = try? await certificates(host: host, port: port), !found.isEmpty else { return nil }
        return Self.phrase(found, name: name, at: now)
    }

    /// - Parameter chain: The certificates in the order that the server sent, starting with its own.
    static func phrase(_ chain: [Certificate], name: Reason, at now: Date) -> ErrorPhrase {
        func day(_ date: Date) -> String { String(RFC3339.text(date).prefix(10)) }
        if let end = chain.map(\.end).min(), end < now { return ErrorPhrase(.certificateExpired, name, day(end)) }
        if let begin = chain.map(\.begin).max(), begin > now {
            return ErrorPhrase(.certificateNotYetValid, name, day(begin))
        }
        return ErrorPhrase(chain.first?.isSelfSigned == true ? .selfSigned : .unknownAuthority, name)
    }

    private final class Found: Sendable {
        let certificates = Mutex<[Certificate]>([])
    }

    private func certificates(host: String, port: Int) async throws -> [Certificate] {
        guard var bootstrap = ClientBootstrap(validatingGroup: group) else { return [] }
        let found = Found()
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        let isAddress = IPAddress(host) != nil
        if let localAddress { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: localAddress, port: 0)) }
        let channel = try await bootstrap.connectTimeout(Self.limit).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(
                    context: context, serverHostname: isAddress ? nil : host,
                    customVerificationCallback: { certificates, verdict in
                        found.certificates.withLock { $0 = certificates.map(Certificate.init) }
                        verdict.succeed(.failed)
                        channel.close(promise: nil)
                    })
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }.connect(host: host, port: port).get()
        let end = channel.eventLoop.scheduleTask(in: Self.limit) { channel.close(promise: nil) }
        try? await channel.closeFuture.get()
        end.cancel()
        return found.certificates.withLock { $0 }
    }
}

extension CertificateInquiry.Certificate {
    fileprivate init(_ certificate: NIOSSLCertificate) {
        begin = Date(timeIntervalSince1970: Double(certificate.notValidBefore))
        end = Date(timeIntervalSince1970: Double(certificate.notValidAfter))
        isSelfSigned = (try? certificate.toDERBytes()).map(CertificateIssuer.isSelfSigned) ?? false
    }
}
