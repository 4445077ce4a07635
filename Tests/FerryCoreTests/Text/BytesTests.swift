import FerryCore
import Testing

/// Searches by `Character` missed a slash, quote or line feed that a combining mark follows.
@Suite("Text by bytes")
struct BytesTests {
    @Test(
        "Text by bytes: a separator splits the text, whatever stands around it",
        arguments: [
            ("a/b", ["a", "b"]), ("a/\u{301}b", ["a", "\u{301}b"]), ("\u{600}/.b", ["\u{600}", ".b"]),
            ("/\u{200D}/", ["", "\u{200D}", ""]), ("", [""]), ("a\u{338}/", ["a\u{338}", ""]),
        ])
    func divides(text: String, expected: [String]) {
        let parts = text.split(at: "/", omittingEmptySubsequences: false)
        #expect(parts.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(text.split(at: "/").map(String.init) == expected.filter { !$0.isEmpty })
    }

    @Test("Text by bytes: a line feed is found after a carriage return")
    func lines() {
        #expect("a\r\nb".utf8.contains("\n"))
        #expect("a\r\nb".split(at: "\n") == ["a\r", "b"])
    }

    @Test("Text by bytes: prefixes and suffixes are compared by bytes, not by appearance")
    func ends() {
        #expect("/\u{301}x".utf8.hasPrefix("/"))
        #expect("x\u{D4E}.part".utf8.hasSuffix(".part"))
        #expect(!"\u{E9}/x".utf8.hasPrefix("e\u{301}"))
        #expect(!"e\u{301}".hasSameBytes(as: "\u{E9}"))
        #expect("x\u{D4E}.part".dropping(suffix: ".part")?.utf8.elementsEqual("x\u{D4E}".utf8) == true)
        #expect("sha=\u{301}1".dropping(prefix: "sha=")?.utf8.elementsEqual("\u{301}1".utf8) == true)
        #expect("a".dropping(prefix: "ab") == nil && "a".dropping(suffix: "ba") == nil)
    }

    @Test(
        "Text by bytes: a substring is found at the offset of its bytes",
        arguments: [("aab", "ab", 1), ("a://\u{301}", "://", 1), ("x", "x", 0)])
    func found(text: String, part: String, offset: Int) {
        let range = text.utf8.firstRange(of: part)
        #expect(range.map { text.utf8.distance(from: text.utf8.startIndex, to: $0.lowerBound) } == offset)
        #expect(text.utf8.firstRange(of: part + "?") == nil)
    }

    @Test(
        "Text by bytes: each occurrence is replaced, whatever stands around it",
        arguments: [
            ("a/\u{301}b//", "a-\u{301}b--"), ("", ""), ("/", "-"), ("\u{600}/x", "\u{600}-x"), ("none", "none"),
        ])
    func replaced(text: String, expected: String) {
        #expect(text.replacing("/", by: "-").hasSameBytes(as: expected))
        #expect("a\r\nb".replacing("\n", by: "") == "a\rb")
    }

    @Test(
        "Paths: parent and name are right for names that begin with a combining mark",
        arguments: [
            ("/d/\u{301}x", "/d", "\u{301}x"), ("/\u{301}x", "/", "\u{301}x"), ("a/b/c", "a/b", "c"), ("c", ".", "c"),
            ("/c", "/", "c"), ("a/b/", "a/b", "b"),
        ])
    func paths(path: String, parent: String, name: String) {
        #expect(Paths.parent(of: path).hasSameBytes(as: parent))
        #expect(Paths.name(of: path).hasSameBytes(as: name))
    }

    @Test(
        "Paths: an absolute path is normalized by its text, and a relative one stays",
        arguments: [
            ("/a/./b/", "/a/b"), ("/a/../../b", "/b"), ("//a//b/.", "/a/b"), ("/", "/"), ("/..", "/"),
            ("a/../b", "a/../b"), ("/.a/..b", "/.a/..b"), ("/a/.\u{301}", "/a/.\u{301}"),
        ])
    func normalized(path: String, expected: String) {
        #expect(Paths.normalized(path).hasSameBytes(as: expected))
    }

    @Test("Paths: equivalent names are different places, and siblings are outside")
    func places() {
        #expect(Paths.isPlace("/d/e\u{301}/x", in: "/d/e\u{301}"))
        #expect(Paths.isPlace("/d/\u{301}x", in: "/d"))
        #expect(!Paths.isPlace("/d/\u{E9}/x", in: "/d/e\u{301}"))
        #expect(!Paths.isPlace("/d/\u{E9}", in: "/d/e\u{301}"))
        #expect(!Paths.isPlace("/data", in: "/d"))
        #expect(Paths.isPlace("/anything", in: "/"))
    }
}
