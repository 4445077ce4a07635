/// An element of an XML document (XML 1.0 with namespaces): its attributes, its text, and the elements in it.
///
/// A document is in UTF-8 and bounded by its ``Limits``. A document type declaration is refused: there are no entities
/// except the five predefined ones, no defaults, and no references to other documents. Comments, processing
/// instructions, and attributes with a prefix are checked and omitted.
package struct PlainXML: Sendable, Hashable {
    /// The name without its prefix.
    package var name: String
    /// The URI of the name's namespace; empty for none.
    package var namespace: String
    /// The values of the attributes that have no prefix.
    package var attributes: [String: String]
    /// The character data directly in the element, concatenated, including white space.
    package var text: String
    package var children: [PlainXML]
    /// The line of the start tag, counted from 1; 0 if the element is not from a document.
    package var line = 0

    /// The bounds of a document.
    package struct Limits: Sendable, Hashable {
        package var bytes: Int
        /// Elements and attributes together.
        package var nodes: Int
        /// The nesting depth of elements.
        package var depth: Int

        package init(bytes: Int = 16 << 20, nodes: Int = 200_000, depth: Int = 64) {
            self.bytes = bytes
            self.nodes = nodes
            self.depth = depth
        }
    }

    package init(
        _ name: String, namespace: String = "", attributes: [String: String] = [:], text: String = "",
        children: [PlainXML] = []
    ) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
        self.text = text
        self.children = children
    }

    /// Parses a document and returns its root element.
    ///
    /// - Throws: An error with its line, and without any text from the document.
    package init(parsing document: some Collection<UInt8>, limits: Limits = Limits()) throws(TextError) {
        var parser = XMLParser(Array(document.prefix(limits.bytes + 1)), limits: limits)
        self = try parser.document()
    }

    /// Returns the elements with this name in the namespace of this element.
    package func children(named name: String) -> [PlainXML] {
        children.filter { $0.name == name && $0.namespace == namespace }
    }

    /// Returns the first of ``children(named:)``.
    package func child(named name: String) -> PlainXML? {
        children.first { $0.name == name && $0.namespace == namespace }
    }
}

extension PlainXML {
    /// The text of the element in a form that ``init(parsing:limits:)`` reads: without a declaration, with the text
    /// before the elements, and with attributes sorted by name. Characters that XML does not permit become U+FFFD.
    package var document: String {
        var document = ""
        write(to: &document, inside: "")
        return document
    }

    private func write(to document: inout String, inside outer: String) {
        document += "<\(name)"
        if namespace != outer { document += " xmlns=\"\(Self.escape(namespace))\"" }
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            document += " \(name)=\"\(Self.escape(value))\""
        }
        if text.isEmpty, children.isEmpty {
            document += "/>"
            return
        }
        document += ">" + Self.escape(text)
        for child in children { child.write(to: &document, inside: namespace) }
        document += "</\(name)>"
    }

    /// Returns the text with references in place of markup characters and of white space that a parser would change.
    private static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t": escaped += "&#9;"
            case "\n": escaped += "&#10;"
            case "\r": escaped += "&#13;"
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
