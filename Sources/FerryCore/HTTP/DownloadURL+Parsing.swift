extension DownloadURL {
    /// The maximum length of a URL's text in bytes.
    package static let maxTextBytes = 64 * 1024

    /// Parses a URL given by a user or a list.
    ///
    /// Surrounding white space is dropped. Throws `invalidRequest` for a scheme other than http, https and s3, a
    /// missing scheme or host, control characters, a port outside 1…65535, or a text longer than 64 KiB.
    public init(_ text: String) throws(DownloadError) {
        do {
            self = try Self.parse(Self.trimmed(text)).checkingLength()
        } catch {
            throw DownloadError(.invalidRequest, ErrorPhrase(.urlProblem, Self.quoted(text), error.phrase))
        }
    }

    /// The defect of a URL. The phrase completes a sentence that begins with the text of the URL.
    struct Defect: Error {
        let phrase: ErrorPhrase

        init(_ key: ErrorPhrase.Key, _ arguments: String...) {
            phrase = ErrorPhrase(key: key, arguments: arguments)
        }
    }

    static func parse(_ bytes: ArraySlice<UInt8>) throws(Defect) -> DownloadURL {
        guard !bytes.isEmpty else { throw Defect(.urlEmpty) }
        guard let (name, rest) = splitScheme(bytes), !looksLikePort(rest) else {
            throw missingScheme(bytes)
        }
        guard let scheme = Scheme(rawValue: name) else {
            throw Defect(.urlScheme, String(name.prefix(32)))
        }
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else {
            throw Defect(.urlHostAfter, name)
        }
        return try parse(afterSlashes: rest.dropFirst(2), scheme: scheme)
    }

    /// Checks the length again, because encoding can lengthen a text beyond the limit of a journal.
    func checkingLength() throws(Defect) -> DownloadURL {
        guard text.utf8.count <= Self.maxTextBytes else {
            throw Defect(.urlLongEncoded)
        }
        return self
    }

    /// Parses the text after `scheme://`.
    static func parse(afterSlashes bytes: ArraySlice<UInt8>, scheme: Scheme) throws(Defect) -> DownloadURL {
        let authorityEnd = bytes.firstIndex { isDelimiter($0) } ?? bytes.endIndex
        if scheme == .s3 { return try parseObject(bytes[authorityEnd...], bucket: bytes[..<authorityEnd]) }
        let authority = try parseAuthority(bytes[..<authorityEnd], scheme: scheme)
        let (path, query) = splitPath(bytes[authorityEnd...])
        return DownloadURL(
            scheme: scheme, host: authority.host, port: authority.port,
            path: removingDotSegments(PercentEncoding.encode(path, allowsQuestionMark: false)),
            query: query.map(PercentEncoding.encodeQuery),
            credentials: authority.credentials)
    }

    /// Returns the lower-case scheme and the text after its colon (RFC 3986 §3.1); `nil` without a scheme.
    static func splitScheme(_ bytes: ArraySlice<UInt8>) -> (name: String, rest: ArraySlice<UInt8>)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return nil }
        for (offset, byte) in bytes[..<colon].enumerated() {
            if ASCII.isLetter(byte) { continue }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if offset == 0 { return nil }
            default:
                return nil
            }
        }
        let name = String(decoding: bytes[..<colon].map(ASCII.lowercased), as: UTF8.self)
        return (name, bytes[bytes.index(after: colon)...])
    }

    /// Splits the text after an authority into path and query; the fragment is dropped.
    static func splitPath(_ bytes: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?) {
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return (bytes[..<end], nil) }
        return (bytes[..<mark], bytes[(mark + 1)..<end])
    }

    /// Returns the text without surrounding white space; throws for control characters and texts over 64 KiB.
    static func trimmed(_ text: String) throws(Defect) -> ArraySlice<UInt8> {
        guard text.utf8.count <= maxTextBytes else {
            throw Defect(.urlLong, "\(maxTextBytes)")
        }
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !ASCII.isWhiteSpace($0) }),
            let last = bytes.lastIndex(where: { !ASCII.isWhiteSpace($0) })
        else { return [] }
        guard !bytes[first...last].contains(where: ASCII.isControl) else {
            throw Defect(.urlControl)
        }
        return bytes[first...last]
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Whether the text after the first colon is a port, so that the part before it is a host, not a scheme.
    private static func looksLikePort(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.firstIndex { isDelimiter($0) } ?? bytes.endIndex
        return end > bytes.startIndex && bytes[..<end].allSatisfy(ASCII.isDigit)
    }

    private static func missingScheme(_ bytes: ArraySlice<UInt8>) -> Defect {
        let rest = bytes.drop { $0 == UInt8(ascii: "/") }
        let slashes = rest.startIndex - bytes.startIndex
        let hasSeparator = String(decoding: rest.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self).utf8.contains("://")
        guard !rest.isEmpty, slashes == 0 || slashes == 2, rest.first != UInt8(ascii: "."), !hasSeparator,
            (try? parse(afterSlashes: rest, scheme: .https)) != nil
        else { return Defect(.urlNoScheme) }
        return Defect(.urlSchemeMeant, excerpt(rest))
    }
}

// MARK: Authority

extension DownloadURL {
    private static func parseAuthority(
        _ bytes: ArraySlice<UInt8>, scheme: Scheme
    ) throws(Defect) -> (host: String, port: Int, credentials: Credentials?) {
        var rest = bytes
        var credentials: Credentials?
        // The last `@` is used, because a password may contain a raw `@` and a host may not.
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
            credentials = try parseUserInfo(bytes[..<at])
            rest = bytes[(at + 1)...]
        }
        // Browsers treat a backslash as a slash, RFC 3986 does not. A URL in which they would see another host is
        // rejected.
        guard !bytes.contains(UInt8(ascii: "\\")) else { throw Defect(.urlBackslash) }
        let (host, portText) = try splitPort(rest)
        guard !host.isEmpty else { throw Defect(.urlNoHost) }
        return (try HostName.normalize(host), try parsePort(portText) ?? scheme.defaultPort, credentials)
    }

    private static func parseUserInfo(_ bytes: ArraySlice<UInt8>) throws(Defect) -> Credentials? {
        guard !bytes.isEmpty else { return nil }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return Credentials(
            user: try decodeUserInfo(bytes[..<colon]), password: try decodeUserInfo(bytes[colon...].dropFirst()))
    }

    private static func decodeUserInfo(_ bytes: ArraySlice<UInt8>) throws(Defect) -> String {
        guard let text = String(validating: PercentEncoding.decode(bytes), as: UTF8.self) else {
            throw Defect(.urlUserText)
        }
        // RFC 7617 §2: neither part may contain control characters.
        guard !text.utf8.contains(where: ASCII.isControl) else {
            throw Defect(.urlUserControl)
        }
        return text
    }

    private static func splitPort(
        _ bytes: ArraySlice<UInt8>
    ) throws(Defect) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>) {
        guard bytes.first == UInt8(ascii: "[") else {
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return (bytes, []) }
            let port = bytes[(colon + 1)...]
            guard !port.contains(UInt8(ascii: ":")) else {
                throw Defect(.urlColons)
            }
            return (bytes[..<colon], port)
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
            throw Defect(.urlOpenBracket)
        }
        let rest = bytes[(end + 1)...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ":") else {
            throw Defect(.urlAfterBracket)
        }
        return (bytes[...end], rest.dropFirst())
    }

    /// Returns `nil` for an empty text, which means the default port (RFC 3986 §3.2.3).
    private static func parsePort(_ bytes: ArraySlice<UInt8>) throws(Defect) -> Int? {
        guard !bytes.isEmpty else { return nil }
        // The text is not quoted in the message, because it may be part of a password with a raw slash.
        guard bytes.allSatisfy(ASCII.isDigit) else { throw Defect(.urlPortText) }
        guard let port = Int(String(decoding: bytes.prefix(20), as: UTF8.self)), bytes.count <= 20,
            (1...65535).contains(port)
        else { throw Defect(.urlPortRange) }
        return port
    }
}
