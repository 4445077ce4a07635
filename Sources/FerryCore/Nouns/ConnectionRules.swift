/// How a download connects, where it differs from its manager's ``TransferSettings``; `nil` means the manager's value.
///
/// Connections are shared only by downloads with the same proxy, certificates and time limit.
public struct ConnectionRules: Sendable, Hashable {
    /// The maximum size of ``certificates``, and of cookies in their coded form, in bytes of UTF-8.
    public static let mostTextBytes = 1 << 20

    /// The proxy, or a direct connection. The hosts that the manager's proxies except are still connected to directly.
    /// Refused by a manager that forbids private addresses, unless it is ``ProxyChoice/direct``.
    public var proxy: ProxyChoice?
    /// Certificates in PEM form that replace the manager's trusted ones.
    public var certificates: String?
    /// Disables certificate verification. Default false: the manager's setting.
    public var insecure = false
    /// The IP versions to connect with.
    public var addressFamily: TransferSettings.AddressFamily?
    /// The time limit for a TCP connection including its TLS handshake.
    public var connectTimeout: Duration?
    /// The User-Agent field, unless the request's headers have one.
    public var userAgent: String?
    /// The cookies that every run starts with. Each is sent to the hosts that match its domain only.
    public var cookies: CookieJar?

    public init() {}

    /// The rules without the proxy's credentials and the cookies.
    package var withoutSecrets: ConnectionRules {
        var rules = self
        rules.proxy = proxy?.withoutCredentials
        rules.cookies = nil
        return rules
    }
}

extension TransferSettings {
    /// The settings for a download with these rules.
    package func with(_ rules: ConnectionRules) -> TransferSettings {
        var settings = self
        if let choice = rules.proxy { settings.proxy = proxy.using(choice) }
        if let certificates = rules.certificates { settings.certificates = certificates }
        if rules.insecure { settings.insecure = true }
        settings.addressFamily = rules.addressFamily ?? addressFamily
        settings.connectTimeout = rules.connectTimeout ?? connectTimeout
        settings.userAgent = rules.userAgent ?? userAgent
        settings.cookies = rules.cookies ?? cookies
        return settings
    }
}
