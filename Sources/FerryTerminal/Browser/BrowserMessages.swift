import Ferry
package import FerryAPI
package import FerryCore
import HTTPTypes

/// A message of the extension. Each has an answer with its number.
package struct BrowserMessage: ClientBody {
    /// The version of the protocol; the host refuses others.
    package static let version = 1
    /// The maximum number of links in one message.
    package static let mostLinks = 500

    package enum Request: String, Codable, Sendable, Hashable, CaseIterable {
        /// Adds `download` paused, or gives its link to a download that waits for one. After `resume` it runs; `drop`
        /// removes it again, because the browser keeps its own. An answer without a download: the server does not give Ferry
        /// the file that it gives to the browser.
        case take, drop
        /// Adds `downloads`, which run at once.
        case add
        /// The downloads to show.
        case list
        case pause, resume
        /// Opens the directory of a completed download.
        case open
        /// The address of the page, signed in.
        case page
    }

    var version: Int
    var number: Int
    var request: Request
    var id: String?
    var download: Strict<BrowserLink>?
    var downloads: [Strict<BrowserLink>]?

    package enum CodingKeys: String, CodingKey, CaseIterable { case version, number, request, id, download, downloads }
}

/// A link of a page or of a download that the browser has begun, with what the browser's request for it had.
///
/// The only form in which an extension names a download: it decides no directory, proxy or certificate, as a
/// ``FerryCore/DownloadRequest`` does.
package struct BrowserLink: ClientBody, Hashable {
    package var url: DownloadURL
    /// The name that the browser would use.
    package var name: String?
    /// The size that the browser has been told.
    package var totalBytes: ByteCount?
    /// The content type that the browser has been told, without parameters.
    package var type: String?
    package var referer: String?
    package var userAgent: String?
    /// The value of the field Authorization.
    package var authorization: String?
    package var cookies: CookieJar?
    /// The address of the page with the link.
    package var page: String?
    /// The network addresses that the browser's own request went to, as far as it tells them; `nil` for a link that it has not
    /// requested.
    package var addresses: [String]?
    /// The identifier of the download for which the user has opened the page.
    package var renews: String?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, name, totalBytes, type, referer, userAgent, authorization, cookies, page, addresses, renews
    }

    package init(url: DownloadURL) { self.url = url }

    /// The key of the page's address among the data of a download.
    package static let pageKey = "page"
    /// The maximum length of the page's address; a longer one is not kept.
    private static let mostPageBytes = 2048

    /// Returns the request for a new download.
    ///
    /// Browsers keep public pages from requests into the user's network, also over redirects (Private Network Access). So
    /// does Ferry for what it requests in their place, unless the host of the page, where it is known, or that of the link is
    /// known to be private, and the browser's own request has gone there too. The owner of a public name can leave it without an
    /// answer for a moment, so an unknown one opens nothing; and he can give it a private address for a moment, which the browser
    /// has not gone to.
    ///
    /// - Parameter isPrivate: Whether a host is an address of this machine or its network, or a name of one; `nil` if that is
    ///   not known.
    package func request(isPaused: Bool, isPrivate: (String) async -> Bool?) async -> DownloadRequest {
        var request = plainRequest(isPaused: isPaused)
        let address = (page ?? referer).flatMap { try? DownloadURL($0) }
        let hosts = Set([url.host, address?.host ?? url.host])
        if addresses?.contains(where: { PrivateAddress.kind(ofHost: $0) != nil }) ?? true {
            for host in hosts where await isPrivate(host) == true { return request }
        }
        request.network.allowsPrivate = false
        return request
    }

    private func plainRequest(isPaused: Bool) -> DownloadRequest {
        let name = name.flatMap(SafeName.sanitize)
        var request = DownloadRequest(
            sources: [url], destination: .directory("", name: name.map { .exact($0) } ?? .suggested))
        request.id = DownloadID.make()
        request.startsPaused = isPaused
        request.headers = headers
        request.connection.userAgent = userAgent
        // allow(secrets): of this link; each cookie has its host.
        request.connection.cookies = cookies
        if let page = Self.shown(page), page.utf8.count <= Self.mostPageBytes { request.userInfo[Self.pageKey] = page }
        return request
    }

    /// The address of a page, as it may be stored, listed and sent: without the user and the password, which browsers leave in
    /// the address of a tab. `nil` if it is no address of the web.
    private static func shown(_ page: String?) -> String? { page.flatMap { try? DownloadURL($0) }?.text }

    /// Whether a response is for the file that the browser gets: by its size and content type, where both are known.
    func fits(_ plan: DownloadPlan) -> Bool {
        if let totalBytes, let other = plan.totalBytes, totalBytes != other { return false }
        guard let type = type.flatMap({ MediaType($0) }), let other = plan.contentType.flatMap({ MediaType($0) }) else {
            return true
        }
        return type == other
    }

    /// The change that gives this link to a listed download.
    ///
    /// - Parameter forbidsPrivate: Whether the link may not lead into the user's network, wherever that of the download did.
    package func change(forbidsPrivate: Bool) -> RequestChange {
        let new = plainRequest(isPaused: false)
        var change = RequestChange()
        change.set(.urls, \.sources, new.sources)
        change.set(.headers, \.headers, new.headers)
        change.set(.userAgent, \.connection.userAgent, new.connection.userAgent)
        change.set(.cookies, \.connection.cookies, new.connection.cookies)
        if forbidsPrivate { change.set(.allowsPrivate, \.network.allowsPrivate, false) }
        return change
    }

    private var headers: HTTPFields {
        var fields = HTTPFields()
        for case (let name, let value?) in [
            (HTTPField.Name.referer, Self.shown(referer)), (.authorization, authorization),
        ]
        where HTTPField.isValidValue(value) {
            fields[name] = value
        }
        return fields
    }
}

/// The answer to a message.
package struct BrowserAnswer: Encodable, Sendable {
    package let version = BrowserMessage.version
    /// The number of the message; `nil` if it could not be read.
    package var number: Int?
    /// The version of this program.
    package let ferry = FerryVersion.text
    package var error: DownloadError?
    package var download: BrowserItem?
    /// Whether `download` was listed before and has got the new link.
    package var isRenewed: Bool?
    package var downloads: [BrowserItem]?
    /// Numbers of all downloads; `nil` if no daemon runs.
    package var statistics: StatisticsBody?
    /// The address of the page, signed in.
    package var url: String?

    package init(number: Int? = nil) { self.number = number }
}

/// What the extension shows of a listed download. Apart from ``FerryAPI/ListedDownload`` because of the limit of a
/// message: without its URLs a hundred are far below it.
package struct BrowserItem: Encodable, Sendable, Hashable {
    package let status: DownloadStatus
    package let page: String?

    package init(_ listed: ListedDownload) {
        status = listed.status
        page = listed.userInfo[BrowserLink.pageKey]
    }

    private enum CodingKeys: String, CodingKey { case page }

    package func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(page, forKey: .page)
    }
}
