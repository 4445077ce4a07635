/// What a request holds that is written nowhere but in a ``SecretVault``: user info, passwords, and every header except
/// Accept, Accept-Language, User-Agent and Referer.
package struct Secrets: Sendable, Hashable {
    /// The credentials of the request.
    package var credentials: Credentials?
    /// Whom the credentials and headers are for; `nil` where an older version has not written it down.
    package var home: Origin?
    /// The user info of the sources, by their index.
    package var sources: [Int: Credentials]
    /// The origins of those sources, by the same index; without those that an older version has not written down.
    package var origins: [Int: Origin] = [:]
    /// The user info of the list of checksums.
    package var checksumList: Credentials?
    /// Header lines: name, value.
    package var headers: [StoredHeader]

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
        credentials == nil && sources.isEmpty && checksumList == nil && headers.isEmpty
    }
}

extension Secrets: CustomStringConvertible, CustomDebugStringConvertible {
    /// Never what they are.
    package var description: String { "Secrets(…)" }
    package var debugDescription: String { description }
}
