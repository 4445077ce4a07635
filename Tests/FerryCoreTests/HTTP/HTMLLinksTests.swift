import FerryCore
import Testing

@Suite("Links of index pages") struct HTMLLinksTests {
    private func links(_ page: String, most: Int = 1000, mostBytes: Int = 1 << 20) throws -> ([String], Bool) {
        let found = HTMLTag.links(
            in: Array(page.utf8), at: try DownloadURL("http://h.test/d/"), most: most, mostBytes: mostBytes)
        return (found.links.map(\.text), found.isWhole)
    }

    @Test("HTMLTag: links are resolved against the page or its base, and comments have none")
    func resolved() throws {
        let (links, isWhole) = try links(
            #"<a href="a">a</a><!-- <a href="no"> --><base href="/e/"><A HREF='b?x=1&amp;y'>b</a><a name="c">"#)
        #expect(links == ["http://h.test/d/a", "http://h.test/e/b?x=1&y"] && isWhole)
    }

    @Test("HTMLTag: the links of a page have a bound in bytes, whatever its base")
    func bounded() throws {
        let base = "<base href=\"/\(String(repeating: "x", count: 5000))/\">"
        let page = base + String(repeating: "<a href=\"y\">", count: 10_000)
        let (links, isWhole) = try links(page, most: 100_000)
        #expect(!isWhole && (100..<300).contains(links.count))
        #expect(links.reduce(0) { $0 + $1.utf8.count } <= 1 << 20)
        let few = try self.links("<a href=\"1\"><a href=\"2\"><a href=\"3\">", most: 2)
        #expect(few.0.count == 2 && !few.1)
        let all = try self.links("<a href=\"1\"><a href=\"2\">", most: 2)
        #expect(all.0.count == 2 && all.1)
    }
}
