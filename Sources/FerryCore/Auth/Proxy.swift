/// A proxy server.
package struct Proxy: Sendable, Hashable {
    /// The protocol between Ferry and the proxy.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case http
        /// SOCKS version 5; the proxy resolves names.
        case socks
    }

    package var kind: Kind
    /// The host, as in ``DownloadURL/host``.
    package var host: String
    package var port: Int
    /// The credentials; used only for ``Kind/http``.
    package var credentials: Credentials?

    package init(kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Parses `http://[user:password@]host[:port]`, `socks5://host[:port]`, `socks5h://…`, or `host:port` for http.
    ///
    /// The default port is 80 for http and 1080 for SOCKS. A word with neither scheme nor port is rejected as a
    /// probable mistake. A path is ignored. Errors contain no user info.
    package init(parsing text: String) throws(TextError) {
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
        default: throw TextError(ErrorPhrase(.proxyType, TextError.quote(scheme)))
        }
        // A password may contain `/`, because user info ends at the last `@` of the authority.
        let at = rest.lastIndex(of: UInt8(ascii: "@"))
        let server = at.map { rest[rest.index(after: $0)...] } ?? rest
        let authority = server.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let shown = TextError.quote(Substring(authority))
        let refusal = TextError(ErrorPhrase(.notAProxy, shown))
        // `DownloadURL` validates host and port.
        let url: DownloadURL
        do {
            url = try DownloadURL("http://" + String(Substring(authority)) + "/")
        } catch {
            throw refusal
        }
        host = url.host
        // In `[::1]`, colons do not introduce a port, so search after the bracket.
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
            throw TextError(ErrorPhrase(.socksCredentials, shown))
        }
        credentials = Credentials(
            user: String(decoding: user, as: UTF8.self), password: String(decoding: password, as: UTF8.self))
    }
}

extension Proxy {
    /// The URL with its credentials, in the form that ``init(parsing:)`` reads.
    var textWithUserInfo: String {
        guard let credentials else { return description }
        let userInfo = [credentials.user, credentials.password].map(PercentEncoding.encodeAll).joined(separator: ":")
        return description.replacing("://", by: "://\(userInfo)@")
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `http://host:port` or `socks5://host:port`, without credentials.
    package var description: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(kind == .http ? "http" : "socks5")://\(name):\(port)"
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
