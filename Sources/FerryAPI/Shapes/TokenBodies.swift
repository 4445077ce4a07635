import FerryCore
package import struct Foundation.Date

/// The response of `POST /codes`: a one-time code and how to open it in a browser.
package struct SignInBody: Codable, Sendable, Hashable {
    package var code: String
    /// The address of the web page with the code in its fragment; `nil` when the daemon serves no page.
    package var url: String?
    /// The absolute path of a private file that redirects to that address, because arguments of a browser's command are
    /// visible to other users. Deleted together with the code; `nil` when it cannot be written.
    package var file: String?

    package init(code: String, url: String?, file: String?) {
        self.code = code
        self.url = url
        self.file = file
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case code, url, file }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(code, forKey: .code)
        try members.encode(url, forKey: .url)
        try members.encode(file, forKey: .file)
    }
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
package struct TokenItem: Sendable, Hashable {
    package var id: String
    /// The browser's own name, shortened.
    package var name: String
    package var madeAt: Date
    /// Precise to the hour if the daemon has restarted since.
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

/// `GET /tokens`: most recently used first.
package struct TokenItems: Codable, Sendable, Hashable {
    package var items: [TokenItem]
    package init(_ items: [TokenItem]) { self.items = items }
}

extension TokenItem: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case id, name, madeAt, lastUsed, isOwn }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        name = try members.decode(String.self, forKey: .name)
        madeAt = try members.decodeDate(forKey: .madeAt)
        lastUsed = try members.decodeDate(forKey: .lastUsed)
        isOwn = try members.decode(Bool.self, forKey: .isOwn)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(name, forKey: .name)
        try members.encode(date: madeAt, forKey: .madeAt)
        try members.encode(date: lastUsed, forKey: .lastUsed)
        try members.encode(isOwn, forKey: .isOwn)
    }
}
