import FerryCore
import Testing

@testable import Ferry

@Suite("HTML tags")
struct HTMLTagTests {
    private static func value(_ text: String) -> String? {
        HTMLTag(Array("<a href=\"\(text)\">".utf8)[...]).value(of: "href")
    }

    /// Only five references were decoded, and the number of another one became the fragment of its link.
    @Test(
        "HTMLTag: numeric references and the named ones of XML are decoded once, and invalid ones stay",
        arguments: [
            ("a&#43;b", "a+b"), ("a&#x2b;b&#X2B;c", "a+b+c"), ("&#34;&#39;&#0038;", "\"'&"), ("&apos;&quot;", "'\""),
            ("&lt;&gt;&amp;", "<>&"), ("&amp;lt;&amp;#43;", "&lt;&#43;"), ("&#38;lt;", "&lt;"), ("&&#43;;", "&+;"),
            ("caf&#233;&#x1F600;", "caf\u{E9}\u{1F600}"), ("e&#x301;", "e\u{301}"),
            ("?a=1&b=2&c;", "?a=1&b=2&c;"), ("a&#;b&#x;c", "a&#;b&#x;c"),
            ("&#0;&#xD800;&#x110000;", "&#0;&#xD800;&#x110000;"), ("&#+43;&#-1;&#4 3;&#xg;", "&#+43;&#-1;&#4 3;&#xg;"),
            ("&#99999999999999999999;", "&#99999999999999999999;"),
            ("a&#43", "a&#43"), ("&", "&"), ("", ""),
        ])
    func references(text: String, decoded: String) throws {
        let value = try #require(Self.value(text))
        #expect(value.hasSameBytes(as: decoded), "\(value)")
    }

    @Test("HTMLTag: a replaced value is the text that was given")
    func replaced() {
        let tag = HTMLTag(Array("<a href='x&#39;y' title=\"&#43;\">".utf8)[...])
        let text = tag.text(replacing: "href") { $0 + "&lt;<>\"&#43;" }
        #expect(
            String(decoding: text, as: UTF8.self)
                == "<a href=\"x'y&amp;lt;&lt;&gt;&quot;&amp;#43;\" title=\"&#43;\">")
        #expect(HTMLTag(text[...]).value(of: "href") == "x'y&lt;<>\"&#43;")
    }
}
