/// A normalized http or https URL with a host, or `s3://BUCKET/KEY`. All URLs enter Ferry through this type.
///
/// Spaces and non-ASCII characters are percent-encoded once, valid `%XX` is unchanged, internationalized names are in Punycode,
/// dot segments and the fragment are removed (RFC 3986). A query keeps all visible ASCII characters that can be sent. A URL is
/// encoded as its ``text``, without user info.
public struct DownloadURL: Sendable, Hashable, CustomStringConvertible {
    /// The supported schemes.
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        case http
        case https
        /// An object in a store: the host is its bucket, the path its key; ``S3Endpoint`` returns the URL of its
        /// requests.
        case s3

        /// The default port: 80 or 443.
        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// ASCII in lower case: a domain name, an IPv4 address, or an IPv6 address without brackets (RFC 5952); the bucket
    /// of an `s3` URL.
    public let host: String
    /// The port, 1…65535; the scheme's default if the URL has none.
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

    /// Returns the text that earlier versions recorded for `text`, in which all query characters that RFC 3986 forbids
    /// there were encoded; `nil` if it is the same.
    package static func earlierText(of text: String) -> String? {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let query = text.utf8[text.utf8.index(after: mark)...]
        let encoded = PercentEncoding.encode(Array(query)[...], allowsQuestionMark: true)
        return encoded.utf8.elementsEqual(query) ? nil : text[...mark] + encoded
    }

    /// The URL with its query shown as `?…`: for logs, errors and events.
    public var redacted: String { query == nil ? prefix + path : prefix + path + "?…" }

    /// `scheme://authority`. Concatenated, because interpolation costs several times as much and lists are long.
    private var prefix: String {
        var text =
            switch scheme {
            case .http: "http://"
            case .https: "https://"
            case .s3: "s3://"
            }
        text.reserveCapacity(text.utf8.count + host.utf8.count + path.utf8.count + 8)
        addAuthority(to: &text)
        return text
    }

    /// Equal to ``redacted``.
    public var description: String { redacted }

    /// `host` or `host:port`, with brackets around IPv6 and without the default port: the Host field (RFC 9110 §7.2).
    package var authority: String {
        var text = ""
        addAuthority(to: &text)
        return text
    }

    private func addAuthority(to text: inout String) {
        if host.utf8.contains(UInt8(ascii: ":")) { text += "[" + host + "]" } else { text += host }
        if port != scheme.defaultPort { text += ":" + String(port) }
    }

    /// `path` or `path?query`: the origin form of a request target (RFC 9112 §3.2.1).
    package var requestTarget: String {
        guard let query else { return path }
        return path + "?" + query
    }

    /// The URL's origin. Secrets for one origin are never sent to another.
    package var origin: Origin { Origin(of: self) }

    /// Returns the same URL with these credentials, or without any if `nil`.
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
    /// Parses the encoded text; throws a decoding error when it is not a valid URL.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Encodes ``text``, which contains no user info.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension DownloadURL {
    /// Returns the text for an error message: quoted, shortened, without user info, query and fragment.
    ///
    /// The text may not be a URL, so more than necessary is removed: everything up to the last `@`.
    static func quoted(_ text: String) -> String { "\"\(excerpt(Array(text.utf8.prefix(4096))[...]))\"" }

    static func excerpt(_ bytes: ArraySlice<UInt8>) -> String {
        let cut = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let tail = cut == bytes.endIndex ? "" : bytes[cut] == UInt8(ascii: "?") ? "?…" : "#…"
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return shown(bytes[..<cut]) + tail }
        let scheme = splitScheme(bytes).flatMap { Scheme(rawValue: $0.name) }.map { "\($0.rawValue)://" } ?? ""
        // An `@` after a `?` may end a password with a raw `?`, or be part of the query, so both stay hidden.
        guard at < cut else { return scheme + "…" }
        return scheme + "…@" + shown(bytes[(at + 1)..<cut]) + tail
    }

    /// Returns at most 200 characters, trimmed, with invisible ones replaced.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        var visible = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                let isBlank = scalar.value < 0x80 && ASCII.isWhiteSpace(UInt8(scalar.value))
                visible.append(isBlank ? " " : "\u{FFFD}")
            default: visible.unicodeScalars.append(scalar)
            }
        }
        guard let first = visible.firstIndex(where: { $0 != " " }), let last = visible.lastIndex(where: { $0 != " " })
        else { return "" }
        let text = visible[first...last]
        return text.count > 200 ? text.prefix(200) + "…" : String(text)
    }
}

extension DownloadURL {
    /// Resolves a reference, such as a Location field, against this URL (RFC 3986 §5.3).
    ///
    /// The result has no credentials, neither the reference's nor this URL's: senders decide by its ``origin`` which secrets to
    /// send. An empty reference resolves to this URL. Schemes other than http and https are an error. This includes s3, unless
    /// this URL is an s3 URL: a server must not choose objects that are then requested with the user's credentials.
    package func resolving(_ reference: String) throws(DownloadError) -> DownloadURL {
        do {
            let resolved = try target(of: Self.trimmed(reference)).checkingLength()
            return DownloadURL(
                scheme: resolved.scheme, host: resolved.host, port: resolved.port, path: resolved.path,
                query: resolved.query, credentials: nil)
        } catch {
            throw DownloadError(.invalidRequest, ErrorPhrase(.urlProblem, Self.quoted(reference), error.phrase))
        }
    }

    private func target(of bytes: ArraySlice<UInt8>) throws(Defect) -> DownloadURL {
        let slashes = [UInt8(ascii: "/"), UInt8(ascii: "/")]
        if bytes.starts(with: slashes) { return try Self.parse(afterSlashes: bytes.dropFirst(2), scheme: scheme) }
        if let (name, _) = Self.splitScheme(bytes) {
            guard Scheme(rawValue: name) != .s3 || scheme == .s3 else { throw Defect(.urlScheme, name) }
            return try Self.parse(bytes)
        }
        let (referencePath, referenceQuery) = Self.splitPath(bytes)
        let encoded = PercentEncoding.encode(referencePath, allowsQuestionMark: false)
        let newQuery = referenceQuery.map(PercentEncoding.encodeQuery)
        if encoded.isEmpty {
            return DownloadURL(
                scheme: scheme, host: host, port: port, path: path, query: newQuery ?? query, credentials: nil)
        }
        let bytesOfPath = path.utf8
        let folderEnd = bytesOfPath.lastIndex(of: UInt8(ascii: "/")).map(bytesOfPath.index(after:))
        let merged =
            encoded.utf8.first == UInt8(ascii: "/")
            ? encoded : String(path[..<(folderEnd ?? path.endIndex)]) + encoded
        return DownloadURL(
            scheme: scheme, host: host, port: port, path: Self.removingDotSegments(merged), query: newQuery,
            credentials: nil)
    }

    /// Removes dot segments (RFC 3986 §5.2.4); the result starts with `/`.
    static func removingDotSegments(_ path: String) -> String {
        let bytes = Array(path.utf8)
        var segments: [ArraySlice<UInt8>] = []
        var endsInFolder = true
        let rest = bytes.first == UInt8(ascii: "/") ? bytes.dropFirst() : bytes[...]
        for segment in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let isDot = segment.elementsEqual(".".utf8)
            let isDoubleDot = segment.elementsEqual("..".utf8)
            if isDoubleDot { segments.removeLast(segments.isEmpty ? 0 : 1) }
            endsInFolder = isDot || isDoubleDot
            if !endsInFolder { segments.append(segment) }
        }
        if endsInFolder { segments.append([]) }
        return "/" + String(decoding: Array(segments.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }
}

extension DownloadURL {
    /// The whole URL with user info, only for the Unix socket.
    var textWithUserInfo: String {
        guard let credentials else { return text }
        let start = text.index(text.startIndex, offsetBy: scheme.rawValue.count + 3)
        let user = Self.encoded(credentials.user) + ":" + Self.encoded(credentials.password)
        return text[..<start] + user + "@" + text[start...]
    }

    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + String(UInt16(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
            }
        }
        return encoded
    }
}
