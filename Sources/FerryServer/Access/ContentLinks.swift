import FerryCore
import Synchronization

/// Links to the contents of downloads, for browsers, which send no token with the request when they save a file.
///
/// A link has 128 random bits and gives access to one download's content for an hour, as long as its token is valid. It can be used
/// repeatedly, because a browser may request a part of the file again after an interruption.
final class ContentLinks: Sendable {
    private static let lifetime: Duration = .seconds(3600)
    /// The maximum number of valid links; a new one replaces the oldest.
    static let mostLinks = 64

    private struct Link {
        var code: String
        var id: DownloadID
        var token: String?
        var until: Duration
    }
    private let links = Mutex<[Link]>([])

    /// The permission that a valid link grants. `token` identifies the token that created the link; `nil` over the Unix socket.
    struct Grant: Sendable, Hashable { let token: String? }

    init() {}

    /// Creates a link and returns its code. `now` is monotonic.
    func make(for id: DownloadID, token: String?, at now: Duration) -> String {
        let link = Link(code: RandomText.hex(bytes: 16), id: id, token: token, until: now + Self.lifetime)
        links.withLock { links in
            links.removeAll { $0.until <= now }
            if links.count >= Self.mostLinks { links.removeFirst() }
            links.append(link)
        }
        return link.code
    }

    /// Returns the grant of a link to this download; `nil` if the link is not valid. Compares all links, so that the timing reveals
    /// nothing.
    func grant(of code: String, for id: DownloadID, at now: Duration) -> Grant? {
        links.withLock { links in
            var found: Grant?
            for link in links where ConstantTime.areEqual(link.code, code) && link.id == id && now < link.until {
                found = Grant(token: link.token)
            }
            return found
        }
    }
}
