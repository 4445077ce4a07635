package import HTTPTypes

/// What a user gave for one server, and which requests carry it. Whoever sends, keeps or changes secrets asks here.
///
/// The *home* of a request's secrets is the origin that the request names, else that of its first URL. Nothing that is
/// read makes another origin the home: no URL of a journal, no mirror, no redirect, no list of checksums. User info inside
/// of a URL is for the origin of that URL alone.
package struct SecretScope: Sendable, Hashable {
    /// Where secrets go; `nil` for nowhere.
    package let home: Origin?
    private let headers: HTTPFields
    private let credentials: Credentials?
    /// The origin of the URL that is asked, and the user info in it.
    private let source: Origin
    private let userInfo: Credentials?

    package init(home: Origin?, headers: HTTPFields, credentials: Credentials?, source: DownloadURL) {
        self.home = home
        self.headers = headers
        self.credentials = credentials
        self.source = source.origin
        userInfo = source.credentials
    }

    /// What a download's request gives to the requests that begin at `source`, a URL of it, and to where redirects lead
    /// from there.
    package init(of request: DownloadRequest, for source: DownloadURL) {
        self.init(
            home: Self.home(of: request), headers: request.headers, credentials: request.credentials, source: source)
    }

    /// The user's headers for a request to `url`: all of them at home, those that are no secrets at the origin that was
    /// asked, else none.
    package func headers(for url: DownloadURL) -> HTTPFields {
        if url.origin == home { return headers }
        return url.origin == source ? headers.withoutSecrets : HTTPFields()
    }

    /// Who asks `url`.
    package func credentials(for url: DownloadURL) -> Credentials? {
        if let userInfo, url.origin == source { return userInfo }
        return url.origin == home ? credentials : nil
    }

    // MARK: The home of a request

    /// Whom the secrets of a request are for.
    package static func home(of request: DownloadRequest) -> Origin? {
        request.secretsOrigin ?? request.sources.first?.origin
    }

    /// A source with the user info that was kept for it, unless it is now of another origin than was kept beside that.
    package static func giveBack(
        _ userInfo: Credentials, of origin: Origin?, to source: DownloadURL
    ) -> DownloadURL {
        origin.map { $0 == source.origin } ?? true ? source.with(userInfo) : source
    }

    /// Whether the secrets of a request are for the first of `sources` too.
    package static func isHome(of request: DownloadRequest, for sources: [DownloadURL]) -> Bool {
        sources == request.sources || sources.first.map(\.origin) == home(of: request)
    }

    /// The request with other URLs and headers. Where its home would be another, it keeps nothing that was given for the
    /// old one: no credentials, and no secret header that it had. Secret headers that come with the change stay.
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
    /// Whether there is something that is for one server alone. User info of URLs is not counted: it names its own.
    package var hasSecrets: Bool { credentials != nil || headers.contains { $0.name.isSecret } }
}

extension HTTPField.Name {
    /// Whether the value of a header of the user is a secret: that of every one but Accept, Accept-Language, User-Agent
    /// and Referer.
    package var isSecret: Bool { !Self.open.contains(self) }

    private static let open: Set<HTTPField.Name> = [.accept, .acceptLanguage, .userAgent, .referer]
}

extension HTTPFields {
    /// Those that are no secrets.
    package var withoutSecrets: HTTPFields {
        var open = HTTPFields()
        for field in self where !field.name.isSecret { open.append(field) }
        return open
    }
}
