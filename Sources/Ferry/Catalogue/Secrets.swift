/// The parts of a request that only a ``SecretVault`` may store: the user info of URLs, passwords (including a proxy's), cookies,
/// and every header except Accept, Accept-Language, User-Agent and Referer.
package struct Secrets: Sendable, Hashable {
    /// The credentials of the request.
    package var credentials: Credentials?
    /// The origin to which credentials and headers may be sent; `nil` if an older version did not store it.
    package var home: Origin?
    /// The user info of the sources, by their index.
    package var sources: [Int: Credentials]
    /// The origins of the sources in ``sources``, by the same index. An origin that an older version did not store is missing.
    package var origins: [Int: Origin] = [:]
    /// The user info of the URL of the checksum list.
    package var checksumList: Credentials?
    /// Secret headers of the request.
    package var headers: [StoredHeader]
    /// The proxy, if it has credentials.
    package var proxy: ProxyChoice?
    /// The cookies of the request.
    package var cookies: CookieJar?

    package init(
        credentials: Credentials? = nil, sources: [Int: Credentials] = [:], checksumList: Credentials? = nil,
        headers: [StoredHeader] = []
    ) {
        self.credentials = credentials
        self.sources = sources
        self.checksumList = checksumList
        self.headers = headers
    }

    package var isEmpty: Bool {
        credentials == nil && sources.isEmpty && checksumList == nil && headers.isEmpty && proxy == nil
            && cookies == nil
    }
}

extension Secrets: CustomStringConvertible, CustomDebugStringConvertible {
    /// Never contains a secret.
    package var description: String { "Secrets(…)" }
    package var debugDescription: String { description }
}

/// A header field, encoded as an array of its name and its value.
package struct StoredHeader: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension StoredHeader: Codable {
    package func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        try pair.encode(name)
        try pair.encode(value)
    }

    package init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        name = try pair.decode(String.self)
        value = try pair.decode(String.self)
    }
}
