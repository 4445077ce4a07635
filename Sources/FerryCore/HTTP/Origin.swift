/// Scheme, host and port (RFC 9110 §4.3.1); the scope of secrets.
public struct Origin: Sendable, Hashable {
    package let scheme: DownloadURL.Scheme
    /// The host, as in ``DownloadURL/host``.
    package let host: String
    package let port: Int

    package init(scheme: DownloadURL.Scheme, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Creates the origin of a URL.
    public init(of url: DownloadURL) { self.init(scheme: url.scheme, host: url.host, port: url.port) }

    /// Parses `https://host` or `http://host:port`, as ``description`` returns it; `nil` for anything with more parts.
    package init?(_ text: String) {
        guard let url = try? DownloadURL(text), url.path == "/", url.query == nil, url.credentials == nil else {
            return nil
        }
        self.init(of: url)
    }
}

extension Origin: CustomStringConvertible {
    /// `https://host` or `http://host:port`, with brackets around IPv6 and without the default port.
    public var description: String { "\(scheme.rawValue)://\(authority)" }

    /// `host` or `host:port`, with brackets around IPv6 and without the default port.
    package var authority: String {
        DownloadURL(scheme: scheme, host: host, port: port, path: "/", query: nil, credentials: nil).authority
    }
}

/// Encoded as its description.
extension Origin: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let origin = Origin(text) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableOrigin, TextError.quote(text)))
        }
        self = origin
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
