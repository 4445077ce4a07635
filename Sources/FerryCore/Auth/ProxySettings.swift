/// The proxies by scheme, and the hosts to connect to directly.
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
    /// - Throws: When a variable that would be used is malformed; the message names it.
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
    ///   - noProxy: A list, as in `no_proxy`, of hosts that are connected to directly. Default: none.
    public init(explicit: String, noProxy: String = "") throws(TextError) {
        bypass = ProxyBypass(noProxy)
        self = using(try ProxyChoice(parsing: explicit))
    }

    /// Returns these settings with one proxy, or none, for all URLs; the exceptions stay.
    package func using(_ choice: ProxyChoice) -> ProxySettings {
        var settings = self
        (settings.http, settings.https) = (choice.server, choice.server)
        return settings
    }

    /// Returns the proxy for a URL; `nil` to connect directly.
    package func proxy(for url: DownloadURL) -> Proxy? {
        guard let proxy = url.scheme == .https ? https : http, !bypass.contains(url) else { return nil }
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
