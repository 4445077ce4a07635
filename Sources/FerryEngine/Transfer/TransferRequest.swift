package import FerryCore
package import HTTPTypes

/// One thing to ask a server for; always a GET.
package struct TransferRequest: Sendable {
    /// Where to; its user info, if any, is used as credentials for its own origin.
    package var url: DownloadURL
    /// Ferry's own fields (Range, If-Range, If-None-Match…); sent on every hop, before those of the user.
    package var fields: HTTPFields
    /// The user's fields; sent to ``trustedOrigins`` only. They replace the defaults, but never ``fields``, the
    /// framing, Range, If-Range or Accept-Encoding.
    package var userFields: HTTPFields
    /// Credentials for ``trustedOrigins``; those inside a URL take precedence at that URL's origin.
    package var credentials: Credentials?
    /// Who may see ``userFields`` and credentials. Default: the origin of ``url``.
    package var trustedOrigins: Set<Origin>
    /// The most time that one hop may take to connect and to send the head of its answer. Default 60 s.
    package var headLimit: Duration
    /// Follow a redirect from https to http. Default false.
    package var allowsDowngrade: Bool
    /// The most redirects in one chain. Default 20.
    package var maxRedirects: Int

    package init(
        url: DownloadURL, fields: HTTPFields = HTTPFields(), userFields: HTTPFields = HTTPFields(),
        credentials: Credentials? = nil, trustedOrigins: Set<Origin>? = nil, headLimit: Duration = .seconds(60),
        allowsDowngrade: Bool = false, maxRedirects: Int = 20
    ) {
        self.url = url
        self.fields = fields
        self.userFields = userFields
        self.credentials = credentials
        self.trustedOrigins = trustedOrigins ?? [url.origin]
        self.headLimit = headLimit
        self.allowsDowngrade = allowsDowngrade
        self.maxRedirects = maxRedirects
    }
}
