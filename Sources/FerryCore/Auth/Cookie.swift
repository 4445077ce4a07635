public import struct Foundation.Date

/// One cookie, as it is kept (RFC 6265 §5.3).
public struct Cookie: Sendable, Hashable {
    public var name: String
    public var value: String
    /// In lower case, without a leading dot.
    public var domain: String
    /// Only for ``domain`` itself, not for the hosts under it.
    public var hostOnly: Bool
    /// Starts with `/`.
    public var path: String
    /// Only for https.
    public var secure: Bool
    /// `nil` for a cookie that lasts as long as its jar.
    public var expires: Date?

    public init(
        name: String, value: String, domain: String, hostOnly: Bool, path: String, secure: Bool, expires: Date?
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.hostOnly = hostOnly
        self.path = path
        self.secure = secure
        self.expires = expires
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a request for `url` carries it (RFC 6265 §5.4); the time is not looked at.
    func applies(to url: DownloadURL) -> Bool {
        if hostOnly ? url.host != domain : !CookieRules.host(url.host, matches: domain) { return false }
        if secure && url.scheme != .https { return false }
        return CookieRules.path(url.path, matches: path)
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible {
    /// Its name and where it goes, without the value, which is a secret.
    public var description: String { "\(name) for \(hostOnly ? "" : ".")\(domain)\(path)" }
    public var debugDescription: String { description }
}
