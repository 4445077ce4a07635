import AsyncHTTPClient
import FerryCore

/// The way to an origin: which client serves it, where that client connects to, what stands in the request line.
struct ProxyRoute: Sendable, Hashable {
    private enum Way: Sendable, Hashable {
        case direct
        /// CONNECT through an HTTP proxy, for https.
        case tunnel(Proxy)
        /// SOCKS version 5; the proxy resolves names.
        case socks(Proxy)
        /// The whole URL asked of an HTTP proxy, for http: many refuse CONNECT to port 80 (RFC 9112 §3.2.2).
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
        case (.http, .https): way = .tunnel(proxy)
        case (.http, .http): way = .forward(proxy)
        }
    }

    private var proxy: Proxy? {
        switch way {
        case .direct: nil
        case .tunnel(let proxy), .socks(let proxy), .forward(let proxy): proxy
        }
    }

    /// The proxy as messages name it; `nil` when there is none.
    var name: String? { proxy?.description }

    /// Whose name is looked up here.
    func lookedUpHost(for url: DownloadURL) -> String { proxy?.host ?? url.host }

    /// Whether one "host" of the connection pool stands for all origins behind it.
    var isForwarding: Bool {
        if case .forward = way { true } else { false }
    }

    /// What AsyncHTTPClient does by itself.
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

    /// The URL that AsyncHTTPClient is given: it only decides where to connect to, and the name in TLS.
    func connectURL(of url: DownloadURL) -> String {
        guard case .forward(let proxy) = way else { return "\(url.scheme.rawValue)://\(url.authority)/" }
        let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
        return "http://\(host):\(proxy.port)/"
    }

    /// What stands in the request line.
    func target(of url: DownloadURL) -> String { isForwarding ? url.text : url.requestTarget }

    /// The credentials that go with a request for a whole URL; those for a tunnel go with its CONNECT.
    var forwardedAuthorization: String? {
        guard case .forward(let proxy) = way else { return nil }
        return proxy.credentials.map { BasicCredentials.header($0) }
    }
}
