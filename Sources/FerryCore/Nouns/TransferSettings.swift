import HTTPTypes

/// Connection settings, shared by all downloads of a manager.
public struct TransferSettings: Sendable, Hashable {
    /// The IP versions that a host name may resolve to.
    public enum AddressFamily: String, Sendable, Hashable, Codable, CaseIterable {
        case any
        case v4
        case v6
    }

    /// The time limit for a TCP connection including its TLS handshake. Default 15 s.
    public var connectTimeout: Duration = .seconds(15)
    /// The User-Agent field, unless the request has its own. Default `ferry/` and `FerryVersion.text`.
    public var userAgent: String = "ferry/\(FerryVersion.text)"
    /// Proxies, by scheme and host. Default: none.
    public var proxy: ProxySettings
    /// The path of a PEM file of certificates that replace the system's trust store, as with `curl --cacert`.
    public var caFile: String?
    /// Certificates in PEM form that replace the system's trust store and ``caFile``.
    public var certificates: String?
    /// Disables certificate verification. Default false.
    public var insecure: Bool = false
    /// The IP versions to connect with. Default ``AddressFamily/any``.
    public var addressFamily: AddressFamily = .any
    /// Permits connections to addresses outside the public internet: loopback, link-local, private, metadata. If false,
    /// the connected address is checked before a request is written. Proxies are exempt, and resolve names themselves.
    /// Default true.
    public var allowsPrivate: Bool = true
    /// The cookies with which every download starts.
    public var cookies: CookieJar
    /// The headers that ``setHeader(_:to:for:)`` has set.
    package var headers = SharedHeaders()
    /// Credentials by host, for redirects of a download's first URL. An entry is used only for https requests to the host that
    /// it names. The entry `default` is not used, because it names no host. Default: none.
    public var netrc: Netrc?
    /// The maximum number of connections per host, over all downloads, 1 or more. Default 16.
    public var connectionsPerHost: Int = 16
    /// The keys and the store for `s3` URLs. Default: AWS, without keys.
    public var s3 = S3Settings()
    /// Whether requests, response heads, redirects and connections are reported as notes. Default false.
    package var tracesRequests = false

    public init(proxy: ProxySettings = ProxySettings(), cookies: CookieJar = CookieJar()) {
        self.proxy = proxy
        self.cookies = cookies
    }
}

extension TransferSettings {
    /// The file of trusted certificates that the environment variable `SSL_CERT_FILE` names, as in OpenSSL; `nil` if it
    /// is unset or empty.
    package static func caFile(in environment: [String: String]) -> String? {
        environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The connection settings in which a download differs from its manager's ``TransferSettings``; `nil` means the
/// manager's value.
///
/// Downloads share connections only if they have the same proxy, certificates and time limit.
public struct ConnectionRules: Sendable, Hashable {
    /// The maximum size of ``certificates``, and of the encoded form of ``cookies``, in bytes of UTF-8.
    public static let mostTextBytes = 1 << 20

    /// The proxy, or a direct connection. Hosts that are excluded from the manager's proxies are still connected to
    /// directly. A manager that forbids private addresses refuses any value except ``ProxyChoice/direct``.
    public var proxy: ProxyChoice?
    /// Certificates in PEM form that replace the manager's trusted ones.
    public var certificates: String?
    /// Disables certificate verification. Default false: the manager's setting applies.
    public var insecure = false
    /// The IP versions to connect with.
    public var addressFamily: TransferSettings.AddressFamily?
    /// The time limit for a TCP connection including its TLS handshake.
    public var connectTimeout: Duration?
    /// The User-Agent field, unless the request's headers have one.
    public var userAgent: String?
    /// The cookies that every run starts with. Each is sent only to hosts that match its domain.
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
        if rules.userAgent != nil { settings.headers.remove(.userAgent) }
        settings.cookies = rules.cookies ?? cookies
        if rules.cookies != nil { settings.headers.remove(.cookie) }
        return settings
    }
}
