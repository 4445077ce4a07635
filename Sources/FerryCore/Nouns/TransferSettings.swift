/// How connections are made; the same for every download of a manager.
public struct TransferSettings: Sendable, Hashable {
    /// Which addresses a name may resolve to.
    public enum AddressFamily: String, Sendable, Hashable, Codable, CaseIterable {
        case any
        case v4
        case v6
    }

    /// The most time for one TCP connection, its TLS handshake included. Default 15 s.
    public var connectTimeout: Duration = .seconds(15)
    /// The User-Agent field; a request's own field replaces it. Default `ferry/` and `FerryVersion.text`.
    public var userAgent: String = "ferry/\(FerryVersion.text)"
    /// Proxies, by scheme and host. Default: none.
    public var proxy: ProxySettings
    /// A file of PEM certificates that are trusted *instead of* those of the system, as `curl --cacert` does.
    public var caFile: String?
    /// Trust any certificate, for any name. Default false.
    public var insecure: Bool = false
    /// Default ``AddressFamily/any``.
    public var addressFamily: AddressFamily = .any
    /// Connect to addresses that are not of the public internet: loopback, link-local, private, metadata. With false they are
    /// refused before a request is written, on the address that was connected to. A proxy may have any; it looks up the
    /// names that it is asked for. Default true.
    public var allowsPrivate: Bool = true
    /// The cookies that every fetch begins with.
    public var cookies: CookieJar
    /// The most connections to one host, over all downloads; 1 or more. Default 16.
    public var connectionsPerHost: Int = 16

    public init(proxy: ProxySettings = ProxySettings(), cookies: CookieJar = CookieJar()) {
        self.proxy = proxy
        self.cookies = cookies
    }
}
