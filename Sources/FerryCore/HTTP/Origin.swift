/// Scheme, host and port: whom a secret was given for (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable {
    public let scheme: DownloadURL.Scheme
    /// As in ``DownloadURL/host``.
    public let host: String
    public let port: Int

    package init(scheme: DownloadURL.Scheme, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The origin of a URL.
    public init(of url: DownloadURL) { self.init(scheme: url.scheme, host: url.host, port: url.port) }

    /// Reads `https://host` or `http://host:port`, as ``description`` writes it; `nil` for what says more than that.
    package init?(_ text: String) {
        guard let url = try? DownloadURL(text), url.path == "/", url.query == nil, url.credentials == nil else {
            return nil
        }
        self.init(of: url)
    }
}

extension Origin: CustomStringConvertible {
    /// `https://host` or `http://host:port`, with brackets around IPv6 and without the default port.
    public var description: String {
        let url = DownloadURL(scheme: scheme, host: host, port: port, path: "/", query: nil, credentials: nil)
        return "\(scheme.rawValue)://\(url.authority)"
    }
}
