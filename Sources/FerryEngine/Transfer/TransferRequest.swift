package import FerryCore
package import HTTPTypes

/// One request to a server; always a GET.
package struct TransferRequest: Sendable {
    package var url: DownloadURL
    /// Ferry's own fields (Range, If-Range, If-None-Match…); sent with every request of a redirect chain, before the
    /// user's.
    package var fields: HTTPFields
    /// The user's fields and credentials, limited to the origins that may receive them. The fields override the
    /// defaults, but never ``fields``, the framing, Range, If-Range or Accept-Encoding.
    package var secrets: SecretScope
    /// The time limit of each exchange, from connecting to the end of its response head. Default 60 s.
    package var headLimit: Duration
    /// Whether to follow redirects from https to http. Default false.
    package var allowsDowngrade: Bool
    /// How to connect, where it differs from the transport's settings.
    package var connection = ConnectionRules()
    /// Whether to connect to private addresses, if the settings allow it too. Default true.
    package var allowsPrivate = true
    /// The maximum number of redirects in one chain. Default 20.
    package var maxRedirects: Int
    /// Receives what ``TransferSettings/tracesRequests`` asks for, on any thread.
    package var trace: (@Sendable (Reason) -> Void)?

    package init(
        url: DownloadURL, fields: HTTPFields = HTTPFields(), secrets: SecretScope, headLimit: Duration = .seconds(60),
        allowsDowngrade: Bool = false, maxRedirects: Int = 20
    ) {
        self.url = url
        self.fields = fields
        self.secrets = secrets
        self.headLimit = headLimit
        self.allowsDowngrade = allowsDowngrade
        self.maxRedirects = maxRedirects
    }

    /// Creates a request with user fields and credentials for the origin of `url`.
    package init(
        url: DownloadURL, fields: HTTPFields = HTTPFields(), userFields: HTTPFields = HTTPFields(),
        credentials: Credentials? = nil, headLimit: Duration = .seconds(60), allowsDowngrade: Bool = false,
        maxRedirects: Int = 20
    ) {
        let secrets = SecretScope(home: Origin(of: url), headers: userFields, credentials: credentials, source: url)
        self.init(
            url: url, fields: fields, secrets: secrets, headLimit: headLimit, allowsDowngrade: allowsDowngrade,
            maxRedirects: maxRedirects)
    }
}
