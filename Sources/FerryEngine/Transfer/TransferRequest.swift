package import FerryCore
package import HTTPTypes

/// One thing to ask a server for; always a GET.
package struct TransferRequest: Sendable {
    /// Where to.
    package var url: DownloadURL
    /// Ferry's own fields (Range, If-Range, If-None-Match…); sent on every hop, before those of the user.
    package var fields: HTTPFields
    /// The user's fields and credentials, for those who may see them. The fields replace the defaults, but never
    /// ``fields``, the framing, Range, If-Range or Accept-Encoding.
    package var secrets: SecretScope
    /// The most time that one hop may take to connect and to send the head of its answer. Default 60 s.
    package var headLimit: Duration
    /// Follow a redirect from https to http. Default false.
    package var allowsDowngrade: Bool
    /// Connect to addresses that are not of the public internet, where the settings do. Default true.
    package var allowsPrivate = true
    /// The most redirects in one chain. Default 20.
    package var maxRedirects: Int

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

    /// With fields and credentials of the user for the origin of `url`.
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
