/// A proxy to fetch through.
public struct Proxy: Sendable, Hashable {
    /// How Ferry talks to it.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case http
        /// SOCKS version 5; names are resolved by the proxy.
        case socks
    }

    public var kind: Kind
    /// As in ``DownloadURL/host``.
    public var host: String
    public var port: Int
    /// Only for ``Kind/http``.
    public var credentials: Credentials?

    public init(kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Reads `http://[user:password@]host[:port]`, `socks5://host[:port]`, `socks5h://…`, or `host:port` for http.
    ///
    /// With a scheme and without a port it is 80 for http and 1080 for SOCKS; a word with neither is more likely a slip
    /// than a host, and refused. What follows the port is ignored. Errors hold no user info.
    public init(parsing text: String) throws(TextError) {
        let trimmed = text.trimmedText
        var rest = trimmed.utf8[...]
        var scheme = "http"
        var hasScheme = false
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            scheme = Substring(rest[..<colon]).asciiLowercased
            hasScheme = true
            rest = rest[rest.index(colon, offsetBy: 3)...]
        }
        switch scheme {
        case "http": kind = .http
        case "socks5", "socks5h", "socks": kind = .socks
        default: throw TextError("proxies of type \(TextError.quote(scheme)) cannot be used: use http or socks5")
        }
        // A password may hold a `/`, as an @ ends it: everything up to the last @ before the end of the authority.
        let at = rest.lastIndex(of: UInt8(ascii: "@"))
        let server = at.map { rest[rest.index(after: $0)...] } ?? rest
        let authority = server.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let shown = TextError.quote(Substring(authority))
        let refusal = TextError("\(shown) is not a proxy: write it as http://host:port or socks5://host:port")
        // The one door for URLs decides what a host and a port may be.
        let url: DownloadURL
        do {
            url = try DownloadURL("http://" + String(Substring(authority)) + "/")
        } catch {
            throw refusal
        }
        host = url.host
        // `[::1]` has colons without a port; a port is what follows the last colon behind any bracket.
        let afterHost = authority.lastIndex(of: UInt8(ascii: "]")).map { authority[$0...] } ?? authority
        let colon = afterHost.lastIndex(of: UInt8(ascii: ":"))
        let hasPort = colon.map { authority.index(after: $0) < authority.endIndex } ?? false
        guard hasScheme || hasPort else { throw refusal }
        port = hasPort ? url.port : kind == .http ? 80 : 1080
        guard let at else { return }
        let userInfo = rest[..<at]
        let divider = userInfo.firstIndex(of: UInt8(ascii: ":"))
        let user = PercentEncoding.decode(userInfo[..<(divider ?? userInfo.endIndex)])
        let password = divider.map { PercentEncoding.decode(userInfo[userInfo.index(after: $0)...]) } ?? []
        guard !(user.isEmpty && password.isEmpty) else { return }
        guard kind == .http else {
            throw TextError("the SOCKS proxy \(shown) cannot be used with a user name or password")
        }
        credentials = Credentials(
            user: String(decoding: user, as: UTF8.self), password: String(decoding: password, as: UTF8.self))
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `http://host:port` or `socks5://host:port`, without credentials.
    public var description: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(kind == .http ? "http" : "socks5")://\(name):\(port)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
