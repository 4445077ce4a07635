public import struct Foundation.Date

/// A stored cookie (RFC 6265 §5.3).
public struct Cookie: Sendable, Hashable {
    public var name: String
    public var value: String
    /// The domain in lower case, without a leading dot.
    public var domain: String
    /// Whether the cookie is sent to ``domain`` only, not to its subdomains.
    public var hostOnly: Bool
    /// The path, starting with `/`.
    public var path: String
    /// Whether the cookie is sent over https only.
    public var secure: Bool
    /// The expiry time; `nil` for a session cookie, which lasts as long as its jar.
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

    /// Whether a request for `url` includes the cookie (RFC 6265 §5.4), ignoring its expiry.
    func applies(to url: DownloadURL) -> Bool {
        if hostOnly ? url.host != domain : !CookieRules.host(url.host, matches: domain) { return false }
        if secure && url.scheme != .https { return false }
        return CookieRules.path(url.path, matches: path)
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible {
    /// Name, domain and path, without the value, which is secret.
    public var description: String { "\(name) for \(hostOnly ? "" : ".")\(domain)\(path)" }
    public var debugDescription: String { description }
}
