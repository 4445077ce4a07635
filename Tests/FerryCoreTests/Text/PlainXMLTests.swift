import FerryCore
import Testing

@Suite("XML") struct PlainXMLTests {
    private func parse(_ text: String, _ limits: PlainXML.Limits = .init()) throws -> PlainXML {
        try PlainXML(parsing: Array(text.utf8), limits: limits)
    }

    @Test("PlainXML: elements, attributes, text, CDATA and references are read; what is between elements is left out")
    func whole() throws {
        let root = try parse(
            """
            \u{FEFF}<?xml version="1.0" encoding='UTF-8' ?>
            <!-- a -> comment --><?style a="?"?>
            <call one = "1 &lt; 2" two='&quot;&apos;&amp;&gt;'>
              <name>a&#x4E2D;&#0010;b<![CDATA[<&]]]>c</name><!--x--><empty />
            </call >
            <!-- end -->
            """)
        #expect(root.name == "call" && root.line == 3 && root.namespace.isEmpty)
        #expect(root.attributes == ["one": "1 < 2", "two": "\"'&>"])
        #expect(root.children.map(\.name) == ["name", "empty"])
        #expect(root.children.map(\.line) == [4, 4])
        #expect(root.child(named: "name")?.text == "a中\nb<&]c")
        #expect(root.child(named: "empty")?.children.isEmpty == true)
        #expect(root.child(named: "other") == nil)
    }

    @Test("PlainXML: names have the namespace that is in scope, whatever the prefix")
    func namespaces() throws {
        let root = try parse(
            """
            <m:a xmlns:m="urn:m" xmlns="urn:d" m:x="left out" y="z"><b/><m:c xmlns:m="urn:n"/><m:d/><e xmlns=""><f/></e>
            <xml:g xml:lang="en"/></m:a>
            """)
        #expect(root.namespace == "urn:m" && root.attributes == ["y": "z"])
        #expect(
            root.children.map { "\($0.namespace) \($0.name)" } == [
                "urn:d b", "urn:n c", "urn:m d", " e", "http://www.w3.org/XML/1998/namespace g",
            ])
        #expect(root.children(named: "d").count == 1 && root.children(named: "b").isEmpty)
        #expect(root.children[3].children[0].namespace.isEmpty)
    }

    @Test("PlainXML: line ends become LF in text, and white space blanks in attributes, unless written as references")
    func whiteSpace() throws {
        let root = try parse("<a b='1\r\n2\t3&#13;&#10;&#9;'>x\r\ny\rz&#13;</a>")
        #expect(root.text == "x\ny\nz\r")
        #expect(root.attributes["b"] == "1 2 3\r\n\t")
    }

    @Test(
        "PlainXML: what is not well-formed is refused, with its line",
        arguments: [
            ("", "an element was expected", 1), ("\n\ntext", "an element was expected", 3),
            ("<a>\n<b></a>", "an end tag does not match", 2), ("</a>", "an end tag does not match", 1),
            ("<a>", "ends too early", 1), ("<a", "ends too early", 1), ("<a b='", "ends too early", 1),
            ("<a b=", "ends too early", 1), ("<a>\n&lt", "ends too early", 2), ("<a><!-- ", "ends too early", 1),
            ("<a/>\n<b/>", "more after the root", 2), ("<a/>text", "more after the root", 1),
            ("<a b='1'c='2'/>", "not well-formed", 1), ("<a b/>", "not well-formed", 1),
            ("<a b=c/>", "not well-formed", 1), ("<a b='<'/>", "not well-formed", 1), ("<1/>", "not well-formed", 1),
            ("< a/>", "not well-formed", 1), ("<a>]]></a>", "not well-formed", 1), ("<a>& </a>", "not well-formed", 1),
            ("<a><!-- -- --></a>", "not well-formed", 1), ("<a><?xml version='1.0'?></a>", "not well-formed", 1),
            ("<?xml version='2.0'?><a/>", "not well-formed", 1), ("<a:/>", "not well-formed", 1),
            ("<a\nb='1' b='2'/>", "given twice", 2), ("<p:a/>", "is not declared", 1),
            ("<a p:b='1'/>", "is not declared", 1), ("<a xmlns:p=''/>", "not well-formed", 1),
            ("<a>&nbsp;</a>", "an entity other than", 1), ("<a>&#0;</a>", "does not permit", 1),
            ("<a>&#xD800;</a>", "does not permit", 1), ("<a>&#x110000;</a>", "does not permit", 1),
            ("<a>&#-5;</a>", "not well-formed", 1), ("<a>&#;</a>", "does not permit", 1),
            ("<a>\n\u{1}</a>", "does not permit", 2), ("<a>\u{FFFE}</a>", "does not permit", 1),
            ("<?xml version='1.0' encoding='latin1'?><a/>", "not in UTF-8", 1),
        ])
    func malformed(text: String, message: String, line: Int) throws {
        let error = try #require(throws: TextError.self) { try parse(text) }
        #expect(error.message.contains(message), "\(error) for \(text.debugDescription)")
        #expect(error.line == line, "\(text.debugDescription)")
    }

    @Test("PlainXML: a document that is declared as US-ASCII has no other bytes")
    func ascii() throws {
        #expect(try parse("<?xml version='1.0' encoding='US-ASCII'?><a>b</a>").text == "b")
        #expect(throws: TextError.self) { try parse("<?xml version='1.0' encoding='US-ASCII'?><a>\u{E9}</a>") }
        #expect(try parse("<?xml version='1.0' encoding='utf-8'?><a>\u{E9}</a>").text == "\u{E9}")
    }

    @Test("PlainXML: invalid UTF-8 is refused with its line")
    func encoding() throws {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE4, 0xB8], [0xEF], [0xEF, 0xBF]] {
            for end in ["</a>", ""] {
                let error = try #require(throws: TextError.self) {
                    try PlainXML(parsing: Array("<a>\n".utf8) + bytes + Array(end.utf8))
                }
                #expect(error.message.contains("not in UTF-8") && error.line == 2)
            }
        }
    }

    @Test(
        "PlainXML: a document type is refused, so that no entity grows and no file is opened",
        arguments: [
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
            "<a><!DOCTYPE a></a>", "<a><!ENTITY b SYSTEM 'http://h/'></a>",
        ])
    func documentType(text: String) throws {
        let error = try #require(throws: TextError.self) { try parse(text) }
        #expect(error.message.contains("document type"))
    }

    @Test("PlainXML: size, depth, number of nodes and of namespaces are bounded")
    func limits() throws {
        let limits = PlainXML.Limits(bytes: 100, nodes: 5, depth: 3)
        #expect(try parse("<a><b><c/></b></a>", limits).children[0].children.count == 1)
        for (text, message) in [
            ("<a><b><c><d/></c></b></a>", "nested more than 3"), ("<a><b/><b/><b/><b/><b/></a>", "more than 5"),
            ("<a b='' c='' d='' e='' f=''/>", "more than 5"), ("<a>" + String(repeating: "x", count: 100), "100 B"),
        ] {
            let error = try #require(throws: TextError.self) { try parse(text, limits) }
            #expect(error.message.contains(message), "\(error)")
        }
        let many = (0..<65).map { " xmlns:p\($0)='u'" }.joined()
        #expect(throws: TextError.self) { try parse("<a\(many)/>") }
        // What is closed is out of scope.
        let one = "<b" + (0..<60).map { " xmlns:p\($0)='u'" }.joined() + "/>"
        #expect(try parse("<a>\(one)\(one)</a>").children.count == 2)
    }

    @Test("PlainXML: no message has text of the document, which may be secret")
    func secrets() throws {
        for text in ["<a>s3cret&s3cret;</a>", "<a s3cret='' s3cret=''/>", "<s3cret:a/>", "<a><s3cret></a>"] {
            let error = try #require(throws: TextError.self) { try parse(text) }
            #expect(!error.description.contains("s3cret"))
        }
    }

    @Test("PlainXML: a written document is read as the same tree")
    func written() throws {
        let tree = PlainXML(
            "a", namespace: "urn:x", attributes: ["b": "\"<\t\r\n&'", "c": ""], text: " <&>\r\n]]>",
            children: [
                PlainXML("d", text: "中"), PlainXML("e", namespace: "urn:x", children: [PlainXML("f", namespace: "u")]),
            ])
        var read = try parse(tree.document)
        func withoutLines(_ element: PlainXML) -> PlainXML {
            var element = element
            element.line = 0
            element.children = element.children.map(withoutLines)
            return element
        }
        read = withoutLines(read)
        #expect(read == tree)
        #expect(PlainXML("a", text: "x\u{0}y").document == "<a>x\u{FFFD}y</a>")
    }

    @Test("PlainXML: any bytes give a tree or an error", arguments: [1, 2, 3] as [UInt64])
    func anyBytes(seed: UInt64) {
        var fuzz = SeededBytes(seed: seed)
        let pieces = [
            "<a>", "</a>", "<b c='d'>", "</b>", "<e/>", "&lt;", "&#65;", "&", ";", "<![CDATA[", "]]>", "<!--", "-->",
            "<?x ?>", " xmlns:p='u'", "<p:q>", "\n", "中", "\"", "<!DOCTYPE",
        ]
        for _ in 0..<4000 {
            let body = fuzz.bytes(from: pieces, upTo: 12)
            _ = try? PlainXML(parsing: body)
            _ = try? PlainXML(parsing: Array("<r>".utf8) + body + Array("</r>".utf8))
        }
    }
}
