package import struct Foundation.Date

/// A stored cookie (RFC 6265 §5.3).
package struct Cookie: Sendable, Hashable {
    package var name: String
    package var value: String
    /// The domain in lower case, without a leading dot.
    package var domain: String
    /// Whether the cookie is sent to ``domain`` only, not to its subdomains.
    package var hostOnly: Bool
    /// The path, starting with `/`.
    package var path: String
    /// Whether the cookie is sent over https only.
    package var secure: Bool
    /// The expiry time; `nil` for a session cookie, which lasts as long as its jar.
    package var expires: Date?

    package init(
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
    package var description: String { "\(name) for \(hostOnly ? "" : ".")\(domain)\(path)" }
    package var debugDescription: String { description }
}
