import AsyncHTTPClient
import FerryCore
import NIOCore
import NIOSSL

/// The connections of one route, trusted certificates and time limit. They close when the last body from them has been
/// released, also if the transport keeps the client no longer.
final class RouteClient: Sendable {
    /// What connections must have in common to be shared.
    struct Key: Hashable, Sendable {
        let route: ProxyRoute
        let connectTimeout: Duration
        private let caFile: String?
        private let certificates: String?
        private let insecure: Bool

        init(route: ProxyRoute, _ settings: TransferSettings) {
            self.route = route
            connectTimeout = settings.connectTimeout
            caFile = settings.caFile
            certificates = settings.certificates
            insecure = settings.insecure
        }

        /// The certificates of a file are read with the first TLS connection.
        var tls: TLSConfiguration {
            get throws {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.minimumTLSVersion = .tlsv12
                // Without this, a connection cancelled in mid-body would read on for up to five seconds, waiting for
                // the server's close_notify. The end of a body is detected without it.
                tls.shutdownTimeout = .milliseconds(1)
                if let certificates {
                    tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8)))
                } else if let caFile {
                    tls.trustRoots = .file(caFile)
                }
                if insecure { tls.certificateVerification = .none }
                return tls
            }
        }
    }

    let http: HTTPClient

    init(_ http: HTTPClient) { self.http = http }

    deinit {
        // AsyncHTTPClient requires a shutdown of every client; the call retains it until it is complete.
        http.shutdown { _ in }
    }
}
