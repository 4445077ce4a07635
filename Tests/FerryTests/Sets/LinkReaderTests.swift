import FerryCore
import FerryTesting
import Testing

@testable import Ferry

@Suite("Links of index pages") struct LinkReaderTests {
    private func links(_ page: String, most: Int = 1000, mostBytes: Int = 1 << 20) throws -> ([String], Bool) {
        var reader = LinkReader(at: try DownloadURL("http://h.test/d/"), most: most, mostBytes: mostBytes)
        reader.append(page.utf8)
        reader.finish()
        return (reader.links.map(\.url.text), !reader.isFull)
    }

    @Test("LinkReader: links are resolved against the page or its base, and comments have none")
    func resolved() throws {
        let (links, isWhole) = try links(
            #"<a href="a">a</a><!-- <a href="no"> --><base href="/e/"><A HREF='b?x=1&amp;y'>b</a><a name="c">"#)
        #expect(links == ["http://h.test/d/a", "http://h.test/e/b?x=1&y"] && isWhole)
        let referring = try self.links(##"<a href="a&#43;b.txt"><a href="q&#x22;&apos;">"##).0
        #expect(
            referring.map { String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self) }
                == ["http://h.test/d/a+b.txt", "http://h.test/d/q\"'"])
        let first = try self.links(#"<base href="e/"><a href="a">a</a> row <base href="f/"><a href="b">"#).0
        #expect(first == ["http://h.test/d/e/a", "http://h.test/d/e/b"])
    }

    @Test("LinkReader: the links of a page have a bound in bytes, whatever its base")
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

    @Test(
        "LinkReader: the date and size beside a link are read from the pages of common servers",
        arguments: [
            (
                "<a href=\"f\">f</a>        28-Nov-2026 10:00        1234\r\n<a href=\"g\">", "28-Nov-2026 10:00 1234",
                1234
            ),
            (
                "<img src=\"x.gif\" alt=\"[ ]\"> <a href=\"f\">f</a>   2026-11-28 10:00  1.2M  \n<img alt=\"[ ]\"> <a href=\"g\">",
                "2026-11-28 10:00 1.2M", nil
            ),
            (
                "<td><a href=\"f\">f</a></td><td align=\"right\">2026-11-28 10:00  </td><td align=\"right\"> 17 </td><td>&nbsp;</td></tr>",
                "2026-11-28 10:00 17", 17
            ),
            (
                "<td class=\"n\"><a href=\"f\">f</a></td><td class=\"m\">2026-Nov-28 10:00:05</td><td class=\"s\">0.1K</td><td class=\"t\">x/y</td>",
                "2026-Nov-28 10:00:05 0.1K", nil
            ),
            (
                "<a href=\"f\"><span>f</span></a></td><td>5 KiB</td><td><time datetime=\"2026-11-28T10:00:05Z\">11/28/2026 10:00:05 AM +00:00</time></td>",
                "2026-11-28T10:00:05Z 5KiB", nil
            ),
            ("<li><a href=\"f\">2026-11-28 10:00 5</a></li>", nil, nil),
            ("<a href=\"f/\">f/</a>  28-Nov-2026 10:00       -\n", nil, nil),
            ("<a href=\"f\">f</a> 28-Nov-2026 1234\n<a href=\"g\">g</a> 10:00", nil, nil),
            ("<a href=\"f\">f</a>" + String(repeating: " ", count: 2000) + "28-Nov-2026 10:00 5", nil, nil),
        ] as [(String, String?, ByteCount?)])
    func rows(page: String, text: String?, bytes: ByteCount?) throws {
        var found = LinkReader(at: try DownloadURL("http://h/"), most: 10, mostBytes: 1000)
        found.append(page.utf8)
        found.finish()
        #expect(found.links.first?.row?.text == text)
        #expect(found.links.first?.row?.totalBytes == bytes)
    }

    @Test("LinkReader: a page has the same links in whatever pieces it arrives", arguments: 0..<40 as Range<UInt64>)
    func pieces(seed: UInt64) throws {
        var bytes = SeededGenerator(seed: seed)
        let parts = [
            "<a href=\"f\">f</a>  28-Nov-2026 10:00  5\n", "<A HREF='g?x=1&amp;y'>g</A> 2026-11-28 10:00 6K\n",
            "<!-- <a href=\"no\"> -->",
            "<!--", "-->", "<", "<a ", "href=\"h\" title=\"<a href='i'>\">", "</a>", "<base href=\"/e/\">", "text",
            " 28-Nov-2026", " 10:00 17 ",
            "<img src=\"x\">", "<a href=", "\"", ">", "<ul>", "</ul>", "</HTML>", "\n", "<pre>", "</PRE>", "<title>",
            "Index of /", "<a href=\"d/\">", "d/", "<form>",
            "<a href=\"j\">j</a>" + String(repeating: " ", count: 1100) + "28-Nov-2026 10:00 5",
        ]
        for _ in 0..<50 {
            let count = Int.random(in: 0..<12, using: &bytes)
            let page = Array(
                (0..<count).map { _ in parts[Int.random(in: 0..<parts.count, using: &bytes)] }.joined().utf8)
            func reader(leastBytes: Int) throws -> LinkReader {
                LinkReader(
                    at: try DownloadURL("http://h/d/"), most: 100, mostBytes: 1 << 16, leastBytes: leastBytes)
            }
            var whole = try reader(leastBytes: 1 << 20)
            var cut = try reader(leastBytes: Int.random(in: 0..<60, using: &bytes))
            whole.append(page)
            whole.finish()
            var rest = page[...]
            while !rest.isEmpty {
                let length = Int.random(in: 1...min(rest.count, 40), using: &bytes)
                cut.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            cut.finish()
            #expect(
                cut.links == whole.links && cut.lastMark == whole.lastMark && cut.hasEmptyList == whole.hasEmptyList
                    && cut.hasListForm == whole.hasListForm,
                "seed \(seed): \(String(decoding: page, as: UTF8.self))")
        }
    }

    @Test(
        "LinkReader: it knows whether a page ends with </html>, after which there may be white space and comments",
        arguments: [
            ("<html></html>", true), ("<a href=\"f\">f</a> 5\n</HTML>\r\n <!-- 2 ms -->\n", true), ("</html >", true),
            ("<html>", false), ("</html", false), ("<!-- </html> -->", false), ("</html> and more", false),
            ("</html><p>", false), ("", false),
        ])
    func documentEnd(page: String, isEnded: Bool) throws {
        var reader = LinkReader(at: try DownloadURL("http://h/d/"), most: 10, mostBytes: 1000)
        reader.append(page.utf8)
        reader.finish()
        #expect((reader.lastMark == .documentEnd) == isEnded)
    }

    @Test(
        "LinkReader: the empty list of a directory is known, as Python's server and Go's send it",
        arguments: [
            ("<html><h1>Directory listing for /d/</h1><hr>\n<ul>\n</ul>\n<hr></html>", true),
            ("<!doctype html>\n<meta name=\"viewport\">\n<pre>\n</pre>\n", true),
            ("<table><tbody><!-- none --></tbody></table>", true), ("<ul><li>busy</li></ul>", false),
            ("<pre>busy</pre>", false), ("<html><body>Temporarily overloaded, try later</body></html>", false),
            ("<body></body>", false), ("<ul>", false),
        ])
    func emptyList(page: String, isEmpty: Bool) throws {
        var reader = LinkReader(at: try DownloadURL("http://h/d/"), most: 10, mostBytes: 1000)
        reader.append(page.utf8)
        reader.finish()
        #expect(reader.hasEmptyList == isEmpty)
    }

    @Test(
        "LinkReader: the form of a list is known in the pages of common servers, and a page to sign in does not have it",
        arguments: [
            ("<html><head><title>Index of /d/</title></head><a href=\"f\">f</a></html>", true),
            ("<TITLE>\n Index of /d</TITLE><ul><li><a href=\"/\"> Parent Directory</a></li></ul>", true),
            ("<head><meta charset=\"utf-8\"><title>Directory listing for /d/</title></head><a href=\"f\">f</a>", true),
            ("<!doctype html><pre>\n<a href=\"f\">f</a>\n</pre>", true),
            ("<a href=\"f\">f</a>  28-Nov-2026 10:00  5\n", true),
            ("<a href=\"?C=N&amp;O=D\">Name</a><a href=\"f\">f</a>", true),
            ("<a href=\"?sort=name&order=desc\">Name</a><a href=\"f/\">f</a>", true),
            ("<a href=\"../\">Up</a><a href=\"f/\">f/</a>", true),
            ("<a href=\"a%20%26b.bin\"><img src=\"x\"> a &amp;b.bin</a> <a href=\"README\">README</a>", true),
            ("<title>Sign in</title><form><input name=\"mail\"></form><a href=\"help\">help</a>", false),
            ("<form><input name=\"mail\"></form><a href=\"terms.pdf\">terms.pdf</a>", false),
            ("<a href=\"../\">Back</a><ul><li><a href=\"help\">help</a></li></ul>", false),
            ("<a href=\"terms.pdf\">terms.pdf</a> <a href=\"login/\">Sign in</a>", false),
            ("<a href=\"login/\">login</a> <a href=\"help.html\">help.html</a>", false),
            ("<pre>Session ended</pre><a href=\"enter\">Index of all pages</a>", false),
            ("<a href=\"?lang=de\">Deutsch</a><a href=\"enter\">..</a>", false), ("", false),
        ])
    func listForm(page: String, isList: Bool) throws {
        for leastBytes in [1, 1 << 20] {
            var reader = LinkReader(
                at: try DownloadURL("http://h/d/"), most: 10, mostBytes: 1000, leastBytes: leastBytes)
            for byte in page.utf8 { reader.append(CollectionOfOne(byte)) }
            reader.finish()
            #expect(reader.hasListForm == isList)
        }
    }

    @Test("LinkReader: a tag of a megabyte that arrives byte by byte is read, and a longer one ends the page")
    func longTag() throws {
        for (length, isWhole) in [(1_000_000, true), (3 << 20, false)] {
            var reader = LinkReader(at: try DownloadURL("http://h/d/"), most: 10, mostBytes: 1000)
            for byte in "<a title=\"".utf8 { reader.append(CollectionOfOne(byte)) }
            for _ in 0..<length { reader.append(CollectionOfOne(UInt8(ascii: "x"))) }
            for byte in "\" href=\"f\">f</a>".utf8 { reader.append(CollectionOfOne(byte)) }
            reader.finish()
            #expect(reader.links.map(\.url.text) == (isWhole ? ["http://h/d/f"] : []))
            #expect(reader.isFull != isWhole)
        }
    }
}
