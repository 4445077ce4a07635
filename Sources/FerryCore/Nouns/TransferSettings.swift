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
    /// Permits connections to addresses outside the public internet: loopback, link-local, private, metadata. With
    /// false, the connected address is checked before a request is written. Proxies are exempt and resolve names
    /// themselves. Default true.
    public var allowsPrivate: Bool = true
    /// The initial cookies of every download.
    public var cookies: CookieJar
    /// The maximum number of connections per host, over all downloads, 1 or more. Default 16.
    public var connectionsPerHost: Int = 16
    /// Whether requests, response heads, redirects and connections are reported as notes. Default false.
    package var tracesRequests = false

    public init(proxy: ProxySettings = ProxySettings(), cookies: CookieJar = CookieJar()) {
        self.proxy = proxy
        self.cookies = cookies
    }
}

extension TransferSettings {
    /// The file of trusted certificates that the environment names, as OpenSSL does: `SSL_CERT_FILE`; `nil` if it is
    /// unset or empty.
    package static func caFile(in environment: [String: String]) -> String? {
        environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
