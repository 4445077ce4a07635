import Ferry
import FerryCore
import HTTPTypes
import NIOCore

/// The response of an upstream, current or stored.
struct GatewayAnswer: Sendable {
    /// The bytes being received, or stored bytes.
    enum Body: Sendable {
        case upstream(UpstreamBody)
        case kept(KeptBytes)

        func next() async throws(DownloadError) -> ByteBuffer? {
            switch self {
            // allow(body): read by the gateway's pages, which have deadlines.
            case .upstream(let body): try await body.next()
            case .kept(let bytes): bytes.take()
            }
        }
    }

    var head: ResponseHead
    /// The URL of the response, after redirects.
    var url: DownloadURL
    var body: Body

    init(_ response: UpstreamResponse) {
        (head, url, body) = (response.head, response.url, .upstream(response.body))
    }

    init(_ page: GatewayPages.Page) {
        (head, url, body) = (page.head, page.url, .kept(KeptBytes(page.bytes, page.share)))
    }

    /// Whether a response with this status means that the upstream is down, so that stored content may be used.
    static func isDown(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    /// The value of the `Warning` field of a stored response (RFC 7234 §5.5.1).
    static let stale = "110 ferry \"Response is Stale\""
}
