import Ferry
import FerryAPI
import FerryCore
import HTTPTypes

/// A change of a download, validated completely before any of it is applied.
struct RequestedChange: Sendable {
    private let body: ChangeBody
    private let sources: [DownloadURL]?
    private let checksum: Amendment<Checksum>
    let credentials: Credentials?

    /// Throws `invalidRequest` for invalid values.
    init(_ body: ChangeBody) throws(DownloadError) {
        self.body = body
        if body.url != nil, body.urls != nil { throw DownloadError(.invalidRequest, ErrorPhrase(.urlAndURLs)) }
        if let texts = body.urls ?? body.url.map({ [$0] }) {
            var sources: [DownloadURL] = []
            for text in texts { sources.append(try NewDownload.source(text)) }
            guard !sources.isEmpty else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
            self.sources = sources
        } else {
            sources = nil
        }
        switch body.checksum {
        case .unchanged: checksum = .unchanged
        case .set(let text): checksum = .set(try NewDownload.checksum(text))
        }
        if case .set(let rate) = body.rateLimit { try NewDownload.check(rate, "rateLimit") }
        if let count = body.maxConnections, count < 1 {
            throw DownloadError(.invalidRequest, ErrorPhrase(.belowOne, "maxConnections"))
        }
        if let user = body.user {
            credentials = Credentials(user: user, password: body.password ?? "")
        } else {
            guard body.password == nil else { throw DownloadError(.invalidRequest, ErrorPhrase(.passwordAlone)) }
            credentials = nil
        }
    }

    /// Whether the change contains anything besides credentials.
    var changesAnything: Bool {
        var rest = body
        rest.user = nil
        rest.password = nil
        return rest != ChangeBody()
    }

    func apply(to change: inout DownloadChange) {
        if let sources { change.sources = sources }
        if let headers = body.headers { change.headers = headers.fields }
        if case .set(let rate) = body.rateLimit { change.rateLimit = rate }
        if let count = body.maxConnections { change.maxConnections = count }
        if let priority = body.priority { change.priority = DownloadPriority(rawValue: priority) }
        if case .set(let flag) = body.allowsMetered { change.network.allowsMetered = flag }
        if case .set(let flag) = body.allowsConstrained { change.network.allowsConstrained = flag }
        if case .set(let flag) = body.allowsPrivate { change.network.allowsPrivate = flag }
        if case .set(let label) = body.label { change.label = label }
        if let userInfo = body.userInfo { change.userInfo = userInfo }
        if case .set(let checksum) = checksum { change.checksum = checksum }
        if let acceptsHTML = body.acceptsHTML { change.acceptsHTML = acceptsHTML }
    }
}
