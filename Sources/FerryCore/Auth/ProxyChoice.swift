/// One proxy for all URLs, or none. Coded as text, with its credentials.
public struct ProxyChoice: Sendable, Hashable {
    /// No proxy: connections are direct.
    public static let direct = ProxyChoice(server: nil)

    /// The proxy; `nil` for a direct connection.
    package var server: Proxy?

    package init(server: Proxy?) { self.server = server }

    /// The proxy as it is stored and shown.
    package var withoutCredentials: ProxyChoice {
        var choice = self
        choice.server?.credentials = nil
        return choice
    }

    /// Parses `http://[user:password@]host[:port]`, `socks5://host[:port]`, `host:port` for http, or `none`.
    ///
    /// - Throws: A message without user info.
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
