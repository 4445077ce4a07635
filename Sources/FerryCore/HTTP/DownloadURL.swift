/// The URL of a file: http or https with a host, already normalized; the only door for URLs.
///
/// Spaces and non-ASCII are percent-encoded once, valid `%XX` is left alone, names of other scripts are in
/// Punycode, dot segments and the fragment are gone (RFC 3986). It is coded as its ``text``: without user info.
public struct DownloadURL: Sendable, Hashable, CustomStringConvertible {
    /// The schemes that Ferry can fetch.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        case http
        case https

        /// The port where the URL names none: 80 or 443.
        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// Why a text is no URL that Ferry can fetch.
    public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
        /// One line: what is wrong with which text, without user info, query or fragment.
        public let message: String
        /// The same, known in every language.
        package let phrase: ErrorPhrase

        package init(_ phrase: ErrorPhrase) {
            message = phrase.text(in: .english)
            self.phrase = phrase
        }
        public var description: String { message }
    }

    public let scheme: Scheme
    /// ASCII and lower case: a domain name, an IPv4 address, or an IPv6 address without brackets (RFC 5952).
    public let host: String
    /// The port to connect to, 1…65535, the default of the scheme when the URL names none.
    public let port: Int
    /// Percent-encoded; starts with `/`.
    public let path: String
    /// Percent-encoded, without the `?`; `nil` when the URL has none.
    public let query: String?
    /// Who asks, from the user info of the URL, percent-decoded; `nil` when it has none.
    public let credentials: Credentials?

    init(scheme: Scheme, host: String, port: Int, path: String, query: String?, credentials: Credentials?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        self.credentials = credentials
    }

    /// The whole URL with its query, without user info and fragment: what is requested and kept in journals.
    public var text: String { prefix + requestTarget }

    /// The URL with `?…` in place of its query: for logs, errors and events.
    public var redacted: String { query == nil ? prefix + path : prefix + path + "?…" }

    /// `scheme://authority`. Put together by hand: interpolation costs several times as much, and lists are long.
    private var prefix: String {
        var text = scheme == .https ? "https://" : "http://"
        text.reserveCapacity(text.utf8.count + host.utf8.count + path.utf8.count + 8)
        text += authority
        return text
    }

    /// The same as ``redacted``.
    public var description: String { redacted }

    /// `host` or `host:port`, with brackets around IPv6 and without the default port: the Host field (RFC 9110 §7.2).
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[" + host + "]" : host
        return port == scheme.defaultPort ? name : name + ":" + String(port)
    }

    /// `path` or `path?query`: the origin form of a request's target (RFC 9112 §3.2.1).
    package var requestTarget: String {
        guard let query else { return path }
        return path + "?" + query
    }

    /// Who serves this URL: secrets given for one origin never go to another.
    package var origin: Origin { Origin(of: self) }

    /// The same URL, asked for by these; `nil` for nobody.
    package func with(_ credentials: Credentials?) -> DownloadURL {
        DownloadURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }

    /// What follows the last `/` of the path, percent-decoded; any bytes, may be empty.
    package var lastPathSegment: [UInt8] {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
        return PercentEncoding.decode(bytes[start...])
    }
}

extension DownloadURL: Codable {
    /// Reads the text of a URL; throws a decoding error when it is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes ``text``: user info is not coded.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
