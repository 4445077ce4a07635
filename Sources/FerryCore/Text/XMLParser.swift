/// Parses one XML document into a ``PlainXML``. It is iterative, so deep nesting uses no stack.
///
/// Each byte is visited a bounded number of times: names are looked up in dictionaries, and the number of prefixes in
/// scope is bounded.
struct XMLParser {
    private struct OpenElement {
        var element: PlainXML
        /// The name as written, with its prefix.
        var tag: ArraySlice<UInt8>
        /// The number of declarations outside the element.
        var outerDeclarations: Int
    }

    private struct Declaration {
        /// The prefix; empty for the default namespace.
        var prefix: String
        var namespace: String
    }

    /// The maximum number of declared prefixes in scope.
    private static let mostDeclarations = 64
    /// The maximum length of a name, in bytes.
    private static let mostNameBytes = 1000

    /// The end of a CDATA section; not permitted elsewhere.
    private static let sectionEnd = "]]>"

    private let bytes: [UInt8]
    private let limits: PlainXML.Limits
    private var position = 0
    private var countedLine = 1
    private var countedBytes = 0
    private var open: [OpenElement] = []
    private var declarations: [Declaration] = []
    private var nodeCount = 0

    init(_ bytes: [UInt8], limits: PlainXML.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func document() throws(TextError) -> PlainXML {
        try checkCharacters()
        _ = take([0xEF, 0xBB, 0xBF])
        try skipDeclaration()
        try skipMisc()
        guard let first = peek(), first == UInt8(ascii: "<") else { throw failure("an element was expected") }
        var root: PlainXML?
        while root == nil {
            if take("</") {
                root = try endTag()
            } else if take("<!--") {
                try skipComment()
            } else if take("<?") {
                try skipInstruction()
            } else if take("<![CDATA[") {
                try appendText(Self.unified(try slice(upTo: Self.sectionEnd)))
            } else if take("<") {
                root = try startTag()
            } else {
                try appendText(try characters(upTo: UInt8(ascii: "<")))
            }
        }
        try skipMisc()
        guard position == bytes.count, let root else { throw failure("there is more after the root element") }
        return root
    }

    // MARK: Characters

    private mutating func checkCharacters() throws(TextError) {
        guard bytes.count <= limits.bytes else {
            throw TextError("the document is larger than \(ByteText.size(ByteCount(limits.bytes)))")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            let mended = String(decoding: bytes, as: UTF8.self).utf8
            position = zip(bytes, mended).enumerated().first { $1.0 != $1.1 }?.offset ?? bytes.count
            throw failure("the document is not in UTF-8")
        }
        for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0xEF {
            let isFine =
                byte == 0xEF
                ? !(bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE)  // U+FFFE, U+FFFF
                : byte == 0x09 || byte == 0x0A || byte == 0x0D
            guard isFine else {
                position = index
                throw failure("a character that XML does not permit")
            }
        }
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isNext(_ token: some Sequence<UInt8>) -> Bool { bytes[position...].starts(with: token) }

    private mutating func take(_ token: some Collection<UInt8>) -> Bool {
        guard isNext(token) else { return false }
        position += token.count
        return true
    }

    private mutating func take(_ token: String) -> Bool { take(token.utf8) }

    /// Returns the bytes before `end`, and skips both.
    private mutating func slice(upTo end: String) throws(TextError) -> ArraySlice<UInt8> {
        guard let found = bytes[position...].firstRange(of: end) else { throw endsEarly() }
        defer { position = found.upperBound }
        return bytes[position..<found.lowerBound]
    }

    /// Skips white space. Returns whether there was any.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = position
        while let byte = peek(), Self.isSpace(byte) { position += 1 }
        return position > start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Returns the line of the current position.
    private mutating func line() -> Int {
        countedLine += bytes[countedBytes..<position].count { $0 == 0x0A }
        countedBytes = position
        return countedLine
    }

    private mutating func failure(_ reason: Reason) -> TextError { TextError(reason, line: line()) }

    private mutating func endsEarly() -> TextError {
        position = bytes.count
        return failure("the document ends too early")
    }

    private mutating func malformed() -> TextError { failure("this is not well-formed XML") }

    // MARK: Omitted parts

    private mutating func skipDeclaration() throws(TextError) {
        guard isNext("<?xml".utf8), bytes.count > position + 5, Self.isSpace(bytes[position + 5]) else { return }
        position += 5
        var values: [String: String] = [:]
        while !take("?>") {
            let hasSpace = skipSpace()
            if take("?>") { break }
            guard hasSpace else { throw malformed() }
            let (name, value) = try attribute()
            guard values.updateValue(value, forKey: String(decoding: name, as: UTF8.self)) == nil else {
                throw malformed()
            }
        }
        let encoding = values["encoding"]?.asciiLowercased ?? "utf-8"
        guard encoding == "utf-8" || encoding == "utf8" || encoding == "us-ascii" else {
            throw failure("the document is not in UTF-8")
        }
        // Bytes that are not ASCII contradict the declaration, so their encoding is unknown.
        if encoding == "us-ascii", bytes.contains(where: { $0 >= 0x80 }) { throw malformed() }
        guard values["version"]?.utf8.hasPrefix("1.") == true else { throw malformed() }
    }

    /// Skips everything that may precede or follow the root element.
    private mutating func skipMisc() throws(TextError) {
        while true {
            skipSpace()
            if take("<!--") {
                try skipComment()
            } else if take("<?") {
                try skipInstruction()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(TextError) {
        _ = try slice(upTo: "--")
        guard take(">") else { throw malformed() }
    }

    private mutating func skipInstruction() throws(TextError) {
        let target = try name()
        guard String(decoding: target, as: UTF8.self).asciiLowercased != "xml" else { throw malformed() }
        let rest = try slice(upTo: "?>")
        guard rest.first.map(Self.isSpace) ?? true else { throw malformed() }
    }

    // MARK: Elements

    /// Parses a start tag after its `<`. Returns the element if it is the root and has no content.
    private mutating func startTag() throws(TextError) -> PlainXML? {
        if peek() == UInt8(ascii: "!") { throw failure("a document type is not accepted") }
        guard open.count < limits.depth else { throw failure("elements are nested more than \(limits.depth) deep") }
        try countNode()
        var element = PlainXML("")
        element.line = line()
        let tag = try name()
        let outer = declarations.count
        var names: Set<String> = []
        var prefixed: [ArraySlice<UInt8>] = []
        var isEmpty = false
        while true {
            let hasSpace = skipSpace()
            if take(">") { break }
            if take("/>") {
                isEmpty = true
                break
            }
            guard hasSpace else { throw peek() == nil ? endsEarly() : malformed() }
            try countNode()
            let (name, value) = try attribute()
            let text = String(decoding: name, as: UTF8.self)
            guard names.insert(text).inserted else { throw failure("an attribute is given twice") }
            if text == "xmlns" {
                try declare("", value)
            } else if let prefix = text.dropping(prefix: "xmlns:") {
                try declare(String(prefix), value)
            } else if text.utf8.contains(":") {
                prefixed.append(name)
            } else {
                element.attributes[text] = value
            }
        }
        for name in prefixed { _ = try resolve(name) }
        (element.namespace, element.name) = try resolve(tag)
        open.append(OpenElement(element: element, tag: tag, outerDeclarations: outer))
        return isEmpty ? close() : nil
    }

    private mutating func endTag() throws(TextError) -> PlainXML? {
        let tag = try name()
        skipSpace()
        guard take(">") else { throw peek() == nil ? endsEarly() : malformed() }
        guard let last = open.last, last.tag == tag else { throw failure("an end tag does not match its start tag") }
        return close()
    }

    /// Ends the innermost element. Returns it if it is the root.
    private mutating func close() -> PlainXML? {
        let last = open.removeLast()
        declarations.removeSubrange(last.outerDeclarations...)
        guard !open.isEmpty else { return last.element }
        open[open.count - 1].element.children.append(last.element)
        return nil
    }

    private mutating func appendText(_ text: String) throws(TextError) {
        guard !open.isEmpty else { throw malformed() }
        open[open.count - 1].element.text += text
    }

    private mutating func countNode() throws(TextError) {
        nodeCount += 1
        guard nodeCount <= limits.nodes else {
            throw failure("the document has more than \(limits.nodes) elements and attributes")
        }
    }

    // MARK: Names

    private static func startsName(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || byte >= 0x80 || byte == UInt8(ascii: "_")
    }

    private mutating func name() throws(TextError) -> ArraySlice<UInt8> {
        let rest = bytes[position...]
        let name = rest.prefix(Self.mostNameBytes + 1).prefix { byte in
            Self.startsName(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }
        guard let first = name.first else { throw rest.isEmpty ? endsEarly() : malformed() }
        guard Self.startsName(first), name.count <= Self.mostNameBytes else { throw malformed() }
        position = name.endIndex
        return name
    }

    private mutating func declare(_ prefix: String, _ namespace: String) throws(TextError) {
        guard prefix != "xml", prefix != "xmlns", prefix.isEmpty || !namespace.isEmpty else { throw malformed() }
        guard declarations.count < Self.mostDeclarations else {
            throw failure("more than \(Self.mostDeclarations) namespaces are declared")
        }
        declarations.append(Declaration(prefix: prefix, namespace: namespace))
    }

    /// Returns the namespace and the local part of a name.
    private mutating func resolve(_ name: ArraySlice<UInt8>) throws(TextError) -> (namespace: String, name: String) {
        let written = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard written.count <= 2, written.allSatisfy({ $0.first.map(Self.startsName) ?? false }) else {
            throw malformed()
        }
        let parts = written.map { String(decoding: $0, as: UTF8.self) }
        let prefix = parts.count == 2 ? parts[0] : ""
        if prefix == "xml" { return ("http://www.w3.org/XML/1998/namespace", parts[1]) }
        let declared = declarations.last { $0.prefix == prefix }
        guard let namespace = declared?.namespace ?? (prefix.isEmpty ? "" : nil) else {
            throw failure("the prefix of a name is not declared")
        }
        return (namespace, parts[parts.count - 1])
    }

    // MARK: Values

    /// Parses `name="value"`.
    private mutating func attribute() throws(TextError) -> (name: ArraySlice<UInt8>, value: String) {
        let name = try name()
        skipSpace()
        guard take("=") else { throw peek() == nil ? endsEarly() : malformed() }
        skipSpace()
        guard let quote = peek() else { throw endsEarly() }
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw malformed() }
        position += 1
        let value = try characters(upTo: quote)
        position += 1
        return (name, value)
    }

    /// Parses character data with references, up to `end`, which is not skipped: a quotation mark, or the `<` after text.
    private mutating func characters(upTo end: UInt8) throws(TextError) -> String {
        let isText = end == UInt8(ascii: "<")
        var text = ""
        while true {
            let rest = bytes[position...]
            let stop = rest.firstIndex { $0 == end || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }
            guard let stop else { throw endsEarly() }
            let run = rest[..<stop]
            if isText, run.contains(Self.sectionEnd) { throw malformed() }
            text += isText ? Self.unified(run) : Self.spaced(run)
            position = stop
            if bytes[stop] == end { return text }
            guard bytes[stop] == UInt8(ascii: "&") else { throw malformed() }
            text.unicodeScalars.append(try reference())
        }
    }

    /// The maximum length of a reference. The longest is `&#x10FFFF;`, but leading zeros are permitted.
    private static let mostReferenceBytes = 32

    private mutating func reference() throws(TextError) -> Unicode.Scalar {
        let content = bytes[(position + 1)...].prefix(Self.mostReferenceBytes).prefix { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "#")
        }
        guard content.endIndex < bytes.count else { throw endsEarly() }
        guard bytes[content.endIndex] == UInt8(ascii: ";") else { throw malformed() }
        let text = String(decoding: content, as: UTF8.self)
        let scalar: Unicode.Scalar?
        switch text {
        case "amp": scalar = "&"
        case "lt": scalar = "<"
        case "gt": scalar = ">"
        case "apos": scalar = "'"
        case "quot": scalar = "\""
        default:
            let digits = text.dropping(prefix: "#x") ?? text.dropping(prefix: "#")
            guard let digits else { throw failure("an entity other than amp, lt, gt, apos and quot") }
            // `UInt32(_:radix:)` accepts a sign.
            let radix = text.utf8.hasPrefix("#x") ? 16 : 10
            let isNumber = digits.utf8.allSatisfy { PercentEncoding.hexValue($0) != nil }
            scalar = isNumber ? UInt32(digits, radix: radix).flatMap(Unicode.Scalar.init) : nil
        }
        guard let scalar, Self.isPermitted(scalar) else { throw failure("a character that XML does not permit") }
        position = content.endIndex + 1
        return scalar
    }

    private static func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0..<0x20, 0xFFFE, 0xFFFF: false
        default: true
        }
    }

    /// Returns text with LF for each line end (XML 1.0 §2.11).
    private static func unified(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(0x0D) else { return String(decoding: bytes, as: UTF8.self) }
        var unified: [UInt8] = []
        var wasReturn = false
        for byte in bytes {
            if !(byte == 0x0A && wasReturn) { unified.append(byte == 0x0D ? 0x0A : byte) }
            wasReturn = byte == 0x0D
        }
        return String(decoding: unified, as: UTF8.self)
    }

    /// Returns the value of an attribute with a space for each white space character (XML 1.0 §3.3.3).
    private static func spaced(_ bytes: ArraySlice<UInt8>) -> String {
        let text = unified(bytes)
        return String(decoding: text.utf8.map { $0 == 0x0A || $0 == 0x09 ? 0x20 : $0 }, as: UTF8.self)
    }
}
