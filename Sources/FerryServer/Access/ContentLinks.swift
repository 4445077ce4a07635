import FerryCore
import Synchronization

/// Links to the contents of downloads, for browsers: a browser that saves a file sends no token with its request.
///
/// A link has 128 random bits and opens one download's content, for an hour and as long as its token is valid: a browser may
/// request a part of the file again after a break.
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

    /// What a valid link stands for: the token that it was made with, `nil` over the Unix socket.
    struct Grant: Sendable, Hashable { let token: String? }

    init() {}

    /// Returns the code of a new link. `now` is monotonic.
    func make(for id: DownloadID, token: String?, at now: Duration) -> String {
        let link = Link(code: RandomText.hex(bytes: 16), id: id, token: token, until: now + Self.lifetime)
        links.withLock { links in
            links.removeAll { $0.until <= now }
            if links.count >= Self.mostLinks { links.removeFirst() }
            links.append(link)
        }
        return link.code
    }

    /// Returns the grant of a link to this download; `nil` if it is no valid link. Compares all links, so that the timing
    /// reveals nothing.
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
