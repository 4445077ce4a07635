package import FerryAPI
import FerryCore

/// Decides which waiting download a link from the browser renews. Pure.
///
/// A wrong choice loses no data: as for every resume, the transfer compares the file of the link with the partial file, and
/// does not combine different files. The policy keeps wrong choices rare.
package enum RenewalPolicy {
    /// Returns the download of `listed` that waits for this link; `nil` if there is none, or if several are equally likely.
    ///
    /// A download whose size differs never matches. Of the others, the match is the download that the user has chosen,
    /// otherwise the one with the same URL, otherwise the only one with the same name or size and the same page or URL,
    /// ignoring queries.
    package static func match(_ link: BrowserLink, among listed: [ListedDownload]) -> ListedDownload? {
        let possible = listed.filter { waits($0) && !differs(link, $0) }
        if let renews = link.renews, let chosen = possible.first(where: { $0.id.rawValue == renews }) { return chosen }
        if let same = possible.first(where: { $0.url == link.url.text }) { return same }
        let likely = possible.filter { isOfSamePlace(link, $0) && (isNamed(link, $0) || isSized(link, $0)) }
        return likely.count == 1 ? likely[0] : nil
    }

    /// Whether the download waits for a link or for a sign-in. A request of the browser provides both.
    package static func waits(_ listed: ListedDownload) -> Bool {
        switch listed.status.state {
        case .waiting(.freshLink), .waiting(.credentials): true
        default: false
        }
    }

    private static func differs(_ link: BrowserLink, _ listed: ListedDownload) -> Bool {
        guard let size = link.totalBytes, let known = listed.status.progress.totalBytes else { return false }
        return size != known
    }

    private static func isSized(_ link: BrowserLink, _ listed: ListedDownload) -> Bool {
        link.totalBytes != nil && link.totalBytes == listed.status.progress.totalBytes
    }

    private static func isNamed(_ link: BrowserLink, _ listed: ListedDownload) -> Bool {
        SafeName.make(link.name, url: link.url, finalURL: nil) == listed.status.name
    }

    private static func isOfSamePlace(_ link: BrowserLink, _ listed: ListedDownload) -> Bool {
        if let page = link.page, withoutQuery(page) == listed.userInfo[BrowserLink.pageKey].map(withoutQuery) {
            return true
        }
        return withoutQuery(listed.url) == withoutQuery(link.url.text)
    }

    private static func withoutQuery(_ url: String) -> Substring { url.split(at: "?", maxSplits: 1).first ?? "" }
}
