#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The response of `POST /codes`: a one-time code, and the URL and the file that open the web page with it.
package struct SignInBody: Codable, Sendable, Hashable {
    package var code: String
    /// The address of the web page with the code in its fragment; `nil` when the daemon serves no page.
    package var url: String?
    /// The absolute path of a private file that redirects to that address. It is needed because the arguments of a browser's
    /// command are visible to other users. Deleted together with the code; `nil` if it cannot be written.
    package var file: String?

    package init(code: String, url: String?, file: String?) {
        self.code = code
        self.url = url
        self.file = file
    }
}

/// The response of `POST /downloads/ID/content-link`: a link from which a browser can save the file without a token.
package struct ContentLinkBody: Codable, Sendable, Hashable {
    /// The path with the code in its query.
    package var path: String
    package init(path: String) { self.path = path }
}

/// The token that a one-time code was exchanged for.
package struct TokenBody: Codable, Sendable, Hashable {
    /// The identifier of the token, not a secret.
    package var id: String
    package var token: String

    package init(id: String, token: String) {
        self.id = id
        self.token = token
    }
}

/// The metadata of a browser's token, without the token.
package struct TokenItem: Codable, Sendable, Hashable {
    package var id: String
    /// The browser's name, shortened.
    package var name: String
    package var madeAt: Date
    /// The time of the last use; precise only to the hour if the daemon has restarted since.
    package var lastUsed: Date
    /// Whether the request was sent with this token.
    package var isOwn: Bool

    package init(id: String, name: String, madeAt: Date, lastUsed: Date, isOwn: Bool) {
        self.id = id
        self.name = name
        self.madeAt = madeAt
        self.lastUsed = lastUsed
        self.isOwn = isOwn
    }
}

/// The response of `GET /tokens`: the tokens, most recently used first.
package struct TokenItems: Codable, Sendable, Hashable {
    package var items: [TokenItem]
    package init(_ items: [TokenItem]) { self.items = items }
}
