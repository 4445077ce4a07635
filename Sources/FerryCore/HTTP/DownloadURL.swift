/// A normalized http or https URL with a host. All URLs enter Ferry through this type.
///
/// Spaces and non-ASCII are percent-encoded once, valid `%XX` is unchanged, internationalized names are in Punycode,
/// dot segments and the fragment are removed (RFC 3986). It is coded as its ``text``, without user info.
public struct DownloadURL: Sendable, Hashable, CustomStringConvertible {
    /// The supported schemes.
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        case http
        case https

        /// The default port: 80 or 443.
        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// ASCII in lower case: a domain name, an IPv4 address, or an IPv6 address without brackets (RFC 5952).
    public let host: String
    /// The port, 1…65535; the scheme's default when the URL has none.
    package let port: Int
    /// The percent-encoded path, starting with `/`.
    package let path: String
    /// The percent-encoded query without `?`; `nil` when the URL has none.
    package let query: String?
    /// The URL's user info, percent-decoded; `nil` when it has none.
    package let credentials: Credentials?

    init(scheme: Scheme, host: String, port: Int, path: String, query: String?, credentials: Credentials?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        self.credentials = credentials
    }

    /// The URL with its query, without user info and fragment, as requested and as stored in journals.
    public var text: String { prefix + requestTarget }

    /// The URL with its query shown as `?…`: for logs, errors and events.
    public var redacted: String { query == nil ? prefix + path : prefix + path + "?…" }

    /// `scheme://authority`. Concatenated, because interpolation costs several times as much and lists are long.
    private var prefix: String {
        var text = scheme == .https ? "https://" : "http://"
        text.reserveCapacity(text.utf8.count + host.utf8.count + path.utf8.count + 8)
        text += authority
        return text
    }

    /// Equal to ``redacted``.
    public var description: String { redacted }

    /// `host` or `host:port`, with brackets around IPv6 and without the default port: the Host field (RFC 9110 §7.2).
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[" + host + "]" : host
        return port == scheme.defaultPort ? name : name + ":" + String(port)
    }

    /// `path` or `path?query`: the origin form of a request target (RFC 9112 §3.2.1).
    package var requestTarget: String {
        guard let query else { return path }
        return path + "?" + query
    }

    /// The URL's origin. Secrets for one origin are never sent to another.
    package var origin: Origin { Origin(of: self) }

    /// Returns the same URL with these credentials; `nil` for none.
    package func with(_ credentials: Credentials?) -> DownloadURL {
        DownloadURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// The last path segment, percent-decoded: any bytes, may be empty.
    package var lastPathSegment: [UInt8] {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
        return PercentEncoding.decode(bytes[start...])
    }
}

extension DownloadURL: Codable {
    /// Parses the coded text; throws a decoding error when it is not a valid URL.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Encodes ``text``: user info is not coded.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
