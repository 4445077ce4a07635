import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Web pages in place of files")
struct PageTests {
    @Test(
        "PageSniffer: the first bytes of an HTML page are recognised",
        arguments: [
            "<!DOCTYPE html>", "<!doctype HTML PUBLIC", "  \r\n\t<html lang=en>", "<HEAD>", "<body >", "<script>",
            "<p>x",
            "<!-- a --><!-- b -->\n<html>", "\u{FEFF}<html>", "\u{FEFF}\n<!-- x --> <title>",
            "<?xml version='1.0'?><html >", "<a href='x'>", "<div\nclass=x>",
        ])
    func pages(text: String) {
        #expect(PageSniffer.judge(Array(text.utf8), isWhole: false) == .page)
    }

    @Test(
        "PageSniffer: text, XML and archives that are no page are recognised as other",
        arguments: [
            "PK\u{3}\u{4}", "plain text <html>", "<?xml version='1.0'?><rss>", "<!-- Generator --><svg>", "<htmlx>",
            "<abbr>", "{\"a\": \"<html>\"}", "# Title", "", "<", "<!doctype htm", "<!-- never ended <html>",
        ])
    func files(text: String) {
        #expect(PageSniffer.judge(Array(text.utf8), isWhole: true) == .other)
    }

    @Test("PageSniffer: UTF-16 pages of both byte orders are recognised")
    func wide() {
        let text = "<!doctype html><p>"
        let little: [UInt8] = [0xFF, 0xFE] + text.utf8.flatMap { byte -> [UInt8] in [byte, 0] }
        let big: [UInt8] = [0xFE, 0xFF] + text.utf8.flatMap { byte -> [UInt8] in [0, byte] }
        #expect(PageSniffer.judge(little, isWhole: false) == .page)
        #expect(PageSniffer.judge(big, isWhole: false) == .page)
    }

    @Test("PageSniffer: the verdict waits for the deciding bytes, up to 4 KiB")
    func undecided() {
        for text in ["", "\n \t", "<", "<!-", "<!-- a", "<!-- a --> <ht", "<?xml ", "<html", "<!doctype htm"] {
            #expect(PageSniffer.judge(Array(text.utf8), isWhole: false) == .undecided, "\(text)")
        }
        #expect(PageSniffer.judge([0xEF, 0xBB], isWhole: false) == .undecided)
        #expect(PageSniffer.judge(Array(repeating: 0x20, count: 4096), isWhole: false) == .other)
    }

    /// The judged representation of a whole response, by its names and first bytes.
    private func judged(
        _ given: String?, _ url: String, disposition: String? = nil, final: String? = nil, type: String? = "text/html",
        begins: Bool = false
    ) throws -> Representation {
        var head = ResponseHead(status: 200)
        if let type { head.headers[.contentType] = type }
        if let disposition { head.headers[.contentDisposition] = disposition }
        let source = try DownloadURL(url)
        let verdict = PagePolicy(givenName: given).judge(
            .judge(head, asked: .whole, now: Date()), beginsAPage: begins, url: source,
            finalURL: try final.map { try DownloadURL($0) } ?? source)
        guard case .whole(let representation) = verdict else { throw CancellationError() }
        return representation
    }

    struct Names: Sendable {
        var given: String?
        var url = "http://h/"
        var disposition: String?
        var final: String?
    }

    @Test(
        "PagePolicy: a page under a name with a file's extension counts as a promised file",
        arguments: [
            Names(url: "http://h/a.iso"), Names(url: "http://h/a.tar.gz"), Names(url: "http://h/A.SAFETENSORS?x"),
            Names(given: "model.gguf", url: "http://h/get.php"),
            Names(url: "http://h/get.php", disposition: "attachment; filename=a.zip"),
            Names(url: "http://h/a.iso", final: "http://portal/login.html"), Names(given: "out", url: "http://h/a.iso"),
            Names(url: "http://h/latest", final: "http://h/a-1.2.deb"), Names(url: "http://h/a.7z"),
            Names(url: "http://h/a.iso", disposition: "inline; filename=login.html"), Names(url: "http://h/%61.i%73o"),
            Names(given: "out", url: "http://h/out", final: "http://h/out/"),
        ])
    func promised(names: Names) throws {
        let representation = try judged(names.given, names.url, disposition: names.disposition, final: names.final)
        #expect(representation.isPromisedFile)
    }

    @Test(
        "PagePolicy: a page under a page's name is not a promised file",
        arguments: [
            Names(), Names(url: "http://h/download"), Names(url: "http://h/a.html"),
            Names(url: "http://h/index.php?file=a.iso"), Names(url: "http://h/page.ASPX"),
            Names(given: "page.html", url: "http://h/a.iso"), Names(url: "http://h/v1.2"),
            Names(url: "http://h/.config"), Names(url: "http://h/x", disposition: "inline; filename=x.htm"),
            Names(url: "http://h/web/example.com"), Names(url: "http://h/a", final: "http://h/b.html"),
            Names(url: "http://h/a", final: "http://h/a/"), Names(given: "a", url: "http://h/a", final: "http://h/b/"),
            Names(given: "b", url: "http://h/a", final: "http://h/a/"),
            Names(given: "a.html", url: "http://h/a", final: "http://h/a/"),
        ])
    func asked(names: Names) throws {
        let representation = try judged(names.given, names.url, disposition: names.disposition, final: names.final)
        #expect(representation.isPage && !representation.isPromisedFile)
    }

    @Test("PagePolicy: the Content-Type decides, and the first bytes only where there is none")
    func types() throws {
        #expect(try !judged(nil, "http://h/a.iso", type: "application/octet-stream").isPromisedFile)
        #expect(try !judged(nil, "http://h/a.iso", type: nil).isPromisedFile)
        let sniffed = try judged(nil, "http://h/a.iso", type: nil, begins: true)
        #expect(sniffed.isPromisedFile && sniffed.identity.contentType == "text/html")
        func mustLook(_ status: Int, _ fields: (HTTPField.Name, String)...) -> Bool {
            var head = ResponseHead(status: status)
            for (name, value) in fields { head.headers[name] = value }
            return PagePolicy.mustLook(at: .judge(head, asked: .whole, now: Date()))
        }
        #expect(mustLook(200) && mustLook(200, (.contentType, "nonsense")))
        #expect(!mustLook(200, (.contentType, "text/plain")))
        #expect(!mustLook(200, (.contentEncoding, "gzip")))
        #expect(!mustLook(404))
    }
}
