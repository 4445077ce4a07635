/// The proxies by scheme, and the hosts that are connected to directly.
public struct ProxySettings: Sendable, Hashable {
    private var http: Proxy?
    private var https: Proxy?
    private var bypass = ProxyBypass("")

    /// Creates settings without proxies.
    public init() {}

    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` from the environment, with curl's rules.
    ///
    /// Lower case takes precedence over upper case; empty counts as unset. `HTTP_PROXY` is ignored if `REQUEST_METHOD`
    /// is set, because CGI servers set it from a request's `Proxy` field.
    ///
    /// - Throws: An error that names the variable, if a variable that would be used is malformed.
    public init(environment: [String: String]) throws(TextError) {
        let all = try Self.proxy("all_proxy", "ALL_PROXY", in: environment)
        let upper = environment["REQUEST_METHOD"] == nil ? "HTTP_PROXY" : nil
        http = try Self.proxy("http_proxy", upper, in: environment) ?? all
        https = try Self.proxy("https_proxy", "HTTPS_PROXY", in: environment) ?? all
        bypass = ProxyBypass(environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    }

    /// Uses one proxy for all URLs: `http://[user:password@]host:port` or `socks5://host:port`.
    ///
    /// - Parameters:
    ///   - explicit: The proxy; empty or `none` for no proxy, regardless of the environment.
    ///   - noProxy: A list of hosts that are connected to directly, as in `no_proxy`. Default: none.
    public init(explicit: String, noProxy: String = "") throws(TextError) {
        bypass = ProxyBypass(noProxy)
        self = using(try ProxyChoice(parsing: explicit))
    }

    /// Returns these settings with one proxy, or none, for all URLs; the excluded hosts are kept.
    package func using(_ choice: ProxyChoice) -> ProxySettings {
        var settings = self
        (settings.http, settings.https) = (choice.server, choice.server)
        return settings
    }

    /// Whether any URL has a proxy.
    package var hasProxy: Bool { http != nil || https != nil }

    /// Returns the proxy for a URL; `nil` to connect directly.
    package func proxy(for url: DownloadURL) -> Proxy? {
        guard let proxy = url.scheme == .http ? http : https, !bypass.contains(url) else { return nil }
        return proxy
    }

    private static func proxy(
        _ lower: String, _ upper: String?, in environment: [String: String]
    ) throws(TextError) -> Proxy? {
        for name in [lower, upper] {
            guard let name, let text = environment[name]?.trimmedText, !text.isEmpty else { continue }
            do {
                return try Proxy(parsing: text)
            } catch {
                throw TextError("\(name): \(error.reason)")
            }
        }
        return nil
    }
}

extension ProxySettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxies without credentials, or `direct`.
    public var description: String {
        guard http != nil || https != nil else { return "direct" }
        if http == https, let http { return "\(http)" }
        return "http: \(http?.description ?? "direct"), https: \(https?.description ?? "direct")"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// One proxy for all URLs, or none. Encoded as text, with its credentials.
public struct ProxyChoice: Sendable, Hashable {
    /// No proxy: connections are direct.
    public static let direct = ProxyChoice(server: nil)

    /// The proxy; `nil` for a direct connection.
    package var server: Proxy?

    package init(server: Proxy?) { self.server = server }

    /// The choice without credentials, for storage and display.
    package var withoutCredentials: ProxyChoice {
        var choice = self
        choice.server?.credentials = nil
        return choice
    }

    /// Parses `http://[user:password@]host[:port]`, `socks5://host[:port]`, `host:port` for http, or `none`.
    ///
    /// - Throws: An error without user info.
    public init(parsing text: String) throws(TextError) {
        let text = text.trimmedText
        server = text.isEmpty || text.asciiLowercased == "none" ? nil : try Proxy(parsing: text)
    }
}

extension ProxyChoice: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do throws(TextError) { self = try ProxyChoice(parsing: text) } catch {
            throw DownloadError(.invalidRequest, error.reason, recovery: .needsUser)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(server?.textWithUserInfo ?? description)
    }
}

extension ProxyChoice: CustomStringConvertible {
    /// The proxy without credentials, or `none`.
    public var description: String { server?.description ?? "none" }
}

/// The hosts that are connected to directly: the list of `no_proxy`, with curl's semantics.
struct ProxyBypass: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case all
        /// A domain and its subdomains; if there is a port, only on that port.
        case name(String, port: Int?)
        /// A network in CIDR form.
        case network(IPAddress, bits: Int, port: Int?)
    }

    private var rules: [Rule] = []

    /// Parses entries separated by commas or spaces: `*`, `example.com`, `.example.com`, `*.example.com`, `host:8080`,
    /// `10.0.0.1`, `[::1]:80`, `10.0.0.0/8`, `fd00::/8`. Invalid entries are ignored.
    init(_ list: String) {
        rules = list.utf8.split { $0 == UInt8(ascii: ",") || ASCII.isWhiteSpace($0) }
            .compactMap { Self.rule(Array($0)) }
    }

    func contains(_ url: DownloadURL) -> Bool {
        let address = IPAddress(url.host)
        let name = url.host.utf8.last == UInt8(ascii: ".") ? String(url.host.dropLast()) : url.host
        return rules.contains { rule in
            switch rule {
            case .all: true
            case .name(let domain, let port):
                address == nil && (port ?? url.port) == url.port && CookieRules.host(name, matches: domain)
            case .network(let prefix, let bits, let port):
                (port ?? url.port) == url.port && address.map { $0.isIn(prefix, bits: bits) } ?? false
            }
        }
    }

    private static func rule(_ entry: [UInt8]) -> Rule? {
        if entry == [UInt8(ascii: "*")] { return .all }
        // An IPv6 address without brackets contains colons, so try an address before `host:port`.
        if let rule = network(entry[...], port: nil) { return rule }
        var host = entry[...]
        var port: Int?
        if let colon = entry.lastIndex(of: UInt8(ascii: ":")) {
            guard let number = ASCII.number(entry[(colon + 1)...]), (1...65_535).contains(number) else { return nil }
            port = Int(number)
            host = entry[..<colon]
            if let rule = network(host, port: port) { return rule }
        }
        guard !host.contains(UInt8(ascii: "/")), !host.contains(UInt8(ascii: ":")) else { return nil }
        if host.starts(with: "*.".utf8) { host = host.dropFirst() }
        if host.first == UInt8(ascii: ".") { host = host.dropFirst() }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        let name = String(decoding: host, as: UTF8.self)
        guard !name.isEmpty else { return nil }
        // Internationalized names are compared in their Punycode form.
        guard let url = try? DownloadURL("http://\(name)/"), url.path == "/" else { return nil }
        return .name(url.host, port: port)
    }

    private static func network(_ text: ArraySlice<UInt8>, port: Int?) -> Rule? {
        var parts = text.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard var host = parts.first else { return nil }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]"), host.count > 1 {
            host = host.dropFirst().dropLast()
        }
        guard let address = IPAddress(String(decoding: host, as: UTF8.self)) else { return nil }
        parts.removeFirst()
        let most = address.bytes.count * 8
        guard let length = parts.first else { return .network(address, bits: most, port: port) }
        guard let bits = ASCII.number(length), bits <= most else { return nil }
        return .network(address, bits: Int(bits), port: port)
    }
}
