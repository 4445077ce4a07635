import AsyncHTTPClient
import FerryCore
import NIOCore
import NIOSSL

/// The route to an origin. It selects the client, the address to connect to, and the form of the request target.
struct ProxyRoute: Sendable, Hashable {
    private enum Way: Sendable, Hashable {
        case direct
        /// CONNECT through an HTTP proxy, for https.
        case tunnel(Proxy)
        /// SOCKS version 5; the proxy resolves names.
        case socks(Proxy)
        /// The absolute URL sent to an HTTP proxy, for http (RFC 9112 §3.2.2): many proxies refuse CONNECT to port
        /// 80.
        case forward(Proxy)
    }
    private let way: Way

    init(for url: DownloadURL, settings: ProxySettings) {
        guard let proxy = settings.proxy(for: url) else {
            way = .direct
            return
        }
        switch (proxy.kind, url.scheme) {
        case (.socks, _): way = .socks(proxy)
        // A request for an object is sent to the https or http URL of its store, so the scheme `s3` does not occur here.
        case (.http, .https), (.http, .s3): way = .tunnel(proxy)
        case (.http, .http): way = .forward(proxy)
        }
    }

    private var proxy: Proxy? {
        switch way {
        case .direct: nil
        case .tunnel(let proxy), .socks(let proxy), .forward(let proxy): proxy
        }
    }

    /// The proxy's name in messages; `nil` without a proxy.
    var name: String? { proxy?.description }

    /// Returns the host that is resolved locally: the proxy's, or the URL's.
    func lookedUpHost(for url: DownloadURL) -> String { proxy?.host ?? url.host }

    /// Whether all origins are one host to the connection pool: the proxy.
    var isForwarding: Bool {
        if case .forward = way { true } else { false }
    }

    /// The proxy that AsyncHTTPClient handles itself.
    var clientProxy: HTTPClient.Configuration.Proxy? {
        switch way {
        case .direct, .forward: nil
        case .socks(let proxy): .socksServer(host: proxy.host, port: proxy.port)
        case .tunnel(let proxy):
            .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.password) })
        }
    }

    /// Returns the URL for AsyncHTTPClient, which determines only the address to connect to and the TLS server name.
    func connectURL(of url: DownloadURL) -> String {
        guard case .forward(let proxy) = way else { return "\(url.scheme.rawValue)://\(url.authority)/" }
        let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
        return "http://\(host):\(proxy.port)/"
    }

    /// Returns the request target.
    func target(of url: DownloadURL) -> String { isForwarding ? url.text : url.requestTarget }

    /// The proxy credentials of a forwarded request; those of a tunnel are sent with its CONNECT.
    var forwardedAuthorization: String? {
        guard case .forward(let proxy) = way else { return nil }
        return proxy.credentials.map { BasicCredentials.header($0) }
    }
}

/// The connections for one route, one set of trusted certificates and one time limit. They stay open until the last body from
/// them has been released, even if the transport no longer keeps the client.
final class RouteClient: Sendable {
    /// The properties that connections must have in common to be shared.
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

        /// A certificate file is read when the first TLS connection is made.
        var tls: TLSConfiguration {
            get throws {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.minimumTLSVersion = .tlsv12
                // Without this, a connection that is cancelled in the middle of a body would continue reading for up to five
                // seconds, to wait for the server's close_notify. The end of a body is detected without it.
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
