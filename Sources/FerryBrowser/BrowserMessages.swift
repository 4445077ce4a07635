import Ferry
package import FerryAPI
package import FerryCore
import HTTPTypes

/// A message from the extension. Each gets a response with the same number.
package struct BrowserMessage: ClientBody {
    /// The version of the protocol; the host refuses others.
    package static let version = 1
    /// The maximum number of links in one message.
    package static let mostLinks = 500

    package enum Request: String, Codable, Sendable, Hashable, CaseIterable {
        /// `take` adds `download` paused, or gives its link to a download that waits for one. `resume` starts the download;
        /// `drop` removes it again, because the browser keeps its own. A response without a download means that the server does
        /// not send Ferry the same file as the browser.
        case take, drop
        /// Adds `downloads`, which start immediately.
        case add
        /// Requests the downloads to show.
        case list
        case pause, resume
        /// Opens the directory of a completed download.
        case open
        /// Requests a sign-in address of the page.
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

/// A link on a page, or the link of a download that the browser has started, with the details of the browser's request.
///
/// The only form in which an extension can specify a download. Unlike a ``FerryCore/DownloadRequest``, it cannot set a
/// directory, proxy or certificate.
package struct BrowserLink: ClientBody, Hashable {
    package var url: DownloadURL
    /// The file name that the browser would use.
    package var name: String?
    /// The size of the file, as the server sent it to the browser.
    package var totalBytes: ByteCount?
    /// The content type, as the server sent it to the browser, without parameters.
    package var type: String?
    package var referer: String?
    package var userAgent: String?
    /// The value of the header field Authorization.
    package var authorization: String?
    package var cookies: CookieJar?
    /// The address of the page that contains the link.
    package var page: String?
    /// The network addresses to which the browser's own request was sent, as far as the browser reports them; `nil` for a link
    /// that it has not requested.
    package var addresses: [String]?
    /// The identifier of the download whose page the user has opened to renew its link.
    package var renews: String?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, name, totalBytes, type, referer, userAgent, authorization, cookies, page, addresses, renews
    }

    package init(url: DownloadURL) { self.url = url }

    /// The key of the page's address in the `userInfo` of a download.
    package static let pageKey = "page"
    /// The maximum length of the page's address. A longer address is not stored.
    private static let mostPageBytes = 2048

    /// Returns the request for a new download.
    ///
    /// Browsers prevent public pages from sending requests into the user's network, including through redirects (Private
    /// Network Access). Ferry does the same for the requests that it makes in place of a browser. Private addresses are allowed
    /// only if the host of the page or of the link is known to be private, and the browser's own request, if any, was sent to a
    /// private address too. Both conditions are needed because the owner of a public name controls its DNS. Lookups of the name
    /// can fail temporarily, so an unknown host counts as public. They can also return a private address temporarily, although
    /// the browser has sent nothing to that address.
    ///
    /// - Parameter isPrivate: Returns whether a host is, or resolves to, an address of this machine or its network; `nil` if
    ///   unknown.
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
        // allow(secrets): the cookies are from this link, and each has its host.
        request.connection.cookies = cookies
        if let page = Self.shown(page), page.utf8.count <= Self.mostPageBytes { request.userInfo[Self.pageKey] = page }
        return request
    }

    /// Returns the address of a page without the user and password, which browsers leave in the address of a tab, so that the
    /// address may be stored, listed and sent. Returns `nil` if it is not a web address.
    private static func shown(_ page: String?) -> String? { page.flatMap { try? DownloadURL($0) }?.text }

    /// Whether a response is for the file that the browser receives, according to the size and content type, as far as these
    /// are known.
    func fits(_ plan: DownloadPlan) -> Bool {
        if let totalBytes, let other = plan.totalBytes, totalBytes != other { return false }
        guard let type = type.flatMap({ MediaType($0) }), let other = plan.contentType.flatMap({ MediaType($0) }) else {
            return true
        }
        return type == other
    }

    /// Returns the change that gives this link to a listed download.
    ///
    /// - Parameter forbidsPrivate: Whether the link must not lead into the user's network, even if the previous link did.
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

/// The response to a message.
package struct BrowserAnswer: Encodable, Sendable {
    package let version = BrowserMessage.version
    /// The number of the message; `nil` if it could not be read.
    package var number: Int?
    /// The version of this program.
    package let ferry = FerryVersion.text
    package var error: DownloadError?
    package var download: BrowserItem?
    /// Whether `download` was already listed and has received the new link.
    package var isRenewed: Bool?
    package var downloads: [BrowserItem]?
    /// The statistics of all downloads; `nil` if no daemon is running.
    package var statistics: StatisticsBody?
    /// The sign-in address of the page.
    package var url: String?

    package init(number: Int? = nil) { self.number = number }
}

/// The part of a listed download that the extension shows. A separate type from ``FerryAPI/ListedDownload`` because the size of
/// messages is limited: without URLs, a hundred items stay far below the limit.
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
