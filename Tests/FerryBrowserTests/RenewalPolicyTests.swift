import Ferry
import FerryAPI
import FerryBrowser
import FerryCore
import Foundation
import Testing

@Suite("RenewalPolicy") struct RenewalPolicyTests {
    private static func waiting(
        _ name: String, page: String? = "https://example.com/files", total: ByteCount? = 1_000_000,
        _ state: DownloadState = .waiting(.freshLink)
    ) -> ListedDownload {
        let status = DownloadStatus(
            id: DownloadID(rawValue: name), state: state,
            progress: DownloadProgress(completedBytes: 500_000, totalBytes: total), name: name, path: nil)
        var listed = ListedDownload(
            status: status, session: "default", url: "https://cdn.example.com/get/\(name)?signature=old",
            addedAt: Date(timeIntervalSince1970: 0))
        listed.userInfo[BrowserLink.pageKey] = page
        return listed
    }

    private static func link(
        _ url: String, page: String? = "https://example.com/files?tab=2", name: String? = nil, total: ByteCount? = nil
    ) throws -> BrowserLink {
        var link = BrowserLink(url: try DownloadURL(url))
        (link.page, link.name, link.totalBytes) = (page, name, total)
        return link
    }

    private func match(_ link: BrowserLink, _ listed: [ListedDownload]) -> String? {
        RenewalPolicy.match(link, among: listed)?.id.rawValue
    }

    @Test("RenewalPolicy: a link of the same page with the same name, or the same size, is for the download that waits")
    func samePage() throws {
        let listed = [Self.waiting("a.iso"), Self.waiting("b.iso", total: 5)]
        #expect(match(try Self.link("https://other.example.com/x/a.iso?k=1"), listed) == "a.iso")
        #expect(match(try Self.link("https://other.example.com/x?k=1", name: "a.iso"), listed) == "a.iso")
        #expect(match(try Self.link("https://other.example.com/x?k=1", name: "c.iso", total: 5), listed) == "b.iso")
        #expect(match(try Self.link("https://other.example.com/x/c.iso"), listed) == nil)
    }

    @Test("RenewalPolicy: a link of another page is for a download of the same URL without query only")
    func otherPage() throws {
        let listed = [Self.waiting("a.iso")]
        for page in [nil, "https://example.com/other"] {
            #expect(match(try Self.link("https://other.example.com/a.iso", page: page), listed) == nil)
            #expect(
                match(try Self.link("https://cdn.example.com/get/a.iso?signature=new", page: page), listed) == "a.iso")
        }
        // Two missing pages are not the same page.
        #expect(
            match(try Self.link("https://o.example.com/a.iso", page: nil), [Self.waiting("a.iso", page: nil)]) == nil)
    }

    @Test("RenewalPolicy: a link to a file of another size is for no download, even for the chosen one")
    func otherSize() throws {
        var link = try Self.link("https://cdn.example.com/get/a.iso?signature=old", name: "a.iso", total: 999_999)
        link.renews = "a.iso"
        #expect(match(link, [Self.waiting("a.iso")]) == nil)
        link.totalBytes = 1_000_000
        #expect(match(link, [Self.waiting("a.iso")]) == "a.iso")
        #expect(match(link, [Self.waiting("a.iso", total: nil)]) == "a.iso")
    }

    @Test("RenewalPolicy: the chosen download and the same URL take precedence; of several likely ones none is taken")
    func precedence() throws {
        var twin = Self.waiting("twin")
        twin.status.name = "a.iso"
        let listed = [Self.waiting("a.iso"), twin]
        var link = try Self.link("https://other.example.com/a.iso")
        #expect(match(link, listed) == nil)
        link.renews = "twin"
        #expect(match(link, listed) == "twin")
        link.renews = "gone"
        #expect(match(link, listed) == nil)
        #expect(match(try Self.link("https://cdn.example.com/get/twin?signature=old"), listed) == "twin")
    }

    @Test("RenewalPolicy: only downloads that wait for a link or for credentials get one")
    func states() throws {
        let link = try Self.link("https://cdn.example.com/get/a.iso?signature=old")
        let states: [(DownloadState, Bool)] = [
            (.waiting(.freshLink), true), (.waiting(.credentials), true), (.waiting(.slot), false), (.paused, false),
            (.downloading, false), (.completed(.single), false),
        ]
        for (state, waits) in states {
            #expect((match(link, [Self.waiting("a.iso", state)]) != nil) == waits, "\(state)")
        }
    }
}
