package import HTTPTypes

/// Decides which requests carry the user's secrets. All code that sends, stores or changes secrets uses this type.
///
/// The *home* of a request's secrets is the origin that the request names, otherwise the origin of its first URL.
/// Nothing else changes the home: neither a URL from a journal nor a mirror, a redirect or a list of checksums. User
/// info in a URL is sent only to that URL's origin.
package struct SecretScope: Sendable, Hashable {
    /// The origin that secrets are sent to; `nil` for none.
    package let home: Origin?
    private let headers: HTTPFields
    private let credentials: Credentials?
    /// The origin of the requested source URL, and the user info in that URL.
    private let source: Origin
    private let userInfo: Credentials?

    package init(home: Origin?, headers: HTTPFields, credentials: Credentials?, source: DownloadURL) {
        self.home = home
        self.headers = headers
        self.credentials = credentials
        self.source = source.origin
        userInfo = source.credentials
    }

    /// Creates the scope for requests that start at `source`, one of the download's URLs, and for their redirects.
    package init(of request: DownloadRequest, for source: DownloadURL) {
        self.init(
            home: Self.home(of: request), headers: request.headers, credentials: request.credentials, source: source)
    }

    /// Returns the user's headers for a request to `url`: all headers at home, the non-secret ones at the source's
    /// origin, otherwise none.
    package func headers(for url: DownloadURL) -> HTTPFields {
        if url.origin == home { return headers }
        return url.origin == source ? headers.withoutSecrets : HTTPFields()
    }

    /// Returns the headers for a request to `url`: the user's, and the manager's for names that the download does not
    /// set itself.
    package func headers(for url: DownloadURL, _ shared: SharedHeaders) -> HTTPFields {
        var fields = headers(for: url)
        let hasCredentials = credentials(for: url) != nil
        for field in shared.fields(for: url.origin, isSource: url.origin == source || url.origin == home)
        where fields[field.name] == nil && !(hasCredentials && field.name == .authorization) {
            fields.append(field)
        }
        return fields
    }

    /// Returns the credentials for a request to `url`.
    package func credentials(for url: DownloadURL) -> Credentials? {
        if let userInfo, url.origin == source { return userInfo }
        return url.origin == home ? credentials : nil
    }

    /// Returns the credentials of the netrc entry that names the host of `url`, to which the source has redirected.
    ///
    /// Over http, anybody on the network path could redirect to a host in the file and read the credentials that are sent
    /// there. URLs from mirrors, journals and lists do not come from the user, so no entry applies to their redirects.
    package func credentials(forRedirectTo url: DownloadURL, _ netrc: Netrc?) -> Credentials? {
        url.scheme == .https && source == home ? netrc?.credentials(naming: url.host) : nil
    }

    /// Returns the headers for requests to `url` that the system makes. The system stores the headers, follows
    /// redirects by itself, and sends all headers with them.
    ///
    /// Secret headers are included only if the source is known not to redirect (`isDirect`): only the end of a chain of
    /// redirects is known, and a redirect in between could lead to another server. A response from another origin was
    /// received without secret headers, so its download needs none. Credentials are never handed over.
    package func handedOver(
        to url: DownloadURL, isDirect: Bool, _ shared: SharedHeaders
    ) throws(HandoverObstacle) -> HTTPFields {
        if credentials(for: url) != nil { throw .credentials }
        let own = headers(for: url, shared)
        guard own.contains(where: { $0.name.isSecret }) else { return own }
        guard isDirect, url.origin == source else { throw .secretsAcrossOrigins }
        return own
    }

    // MARK: The home of a request

    /// Returns the origin that the request's secrets are sent to.
    package static func home(of request: DownloadRequest) -> Origin? {
        request.secretsOrigin ?? request.sources.first?.origin
    }

    /// Restores the stored user info of a source, unless the source's origin differs from the one stored with it.
    package static func giveBack(
        _ userInfo: Credentials, of origin: Origin?, to source: DownloadURL
    ) -> DownloadURL {
        origin.map { $0 == source.origin } ?? true ? source.with(userInfo) : source
    }

    /// Whether the request's secrets are also sent to the first of `sources`.
    package static func isHome(of request: DownloadRequest, for sources: [DownloadURL]) -> Bool {
        sources == request.sources || sources.first.map(\.origin) == home(of: request)
    }

    /// Returns the request with other URLs and headers. If its home changes, the credentials and secret headers of the
    /// previous home are removed; secret headers in the change itself are kept.
    package static func change(
        _ old: DownloadRequest, sources: [DownloadURL], headers: HTTPFields
    ) -> DownloadRequest {
        var new = old
        new.sources = sources
        new.headers = headers
        guard !isHome(of: old, for: sources) else { return new }
        new.secretsOrigin = nil
        new.credentials = nil
        new.headers = HTTPFields()
        for field in headers where !field.name.isSecret || !old.headers.contains(field) { new.headers.append(field) }
        return new
    }
}

extension DownloadRequest {
    /// Whether the request has credentials or secret headers. User info in URLs does not count, because it is sent only to the
    /// origin of its URL.
    package var hasSecrets: Bool { credentials != nil || headers.contains { $0.name.isSecret } }
}

extension HTTPField.Name {
    /// Whether the values of this header are secret: true for all except Accept, Accept-Language, User-Agent and
    /// Referer.
    package var isSecret: Bool { !Self.open.contains(self) }

    private static let open: Set<HTTPField.Name> = [.accept, .acceptLanguage, .userAgent, .referer]
}

extension HTTPFields {
    /// The fields that are not secret.
    package var withoutSecrets: HTTPFields {
        var open = HTTPFields()
        for field in self where !field.name.isSecret { open.append(field) }
        return open
    }

    /// The fields that are secret.
    package var secrets: HTTPFields {
        var secrets = HTTPFields()
        for field in self where field.name.isSecret { secrets.append(field) }
        return secrets
    }
}
