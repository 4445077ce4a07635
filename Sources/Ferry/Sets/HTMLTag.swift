import FerryCore

/// One HTML tag, from `<` to `>`.
package struct HTMLTag {
    /// The bytes of the tag.
    package let text: ArraySlice<UInt8>
    /// The name in lower case; empty if the tag is not a start tag.
    package let name: String
    private let attributes: [(name: String, value: Range<Int>)]
    /// Whether the end of the tag was found before the end of the bytes.
    let isWhole: Bool

    /// Reads the tag at the start of `page`; without an end, the tag consists of all remaining bytes.
    package init(_ page: ArraySlice<UInt8>) {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
        var index = page.index(after: page.startIndex)
        func word(until isEnd: (UInt8) -> Bool) -> Range<Int> {
            let start = index
            while index < page.endIndex, !isEnd(page[index]) { index += 1 }
            return start..<index
        }
        func text(_ range: Range<Int>) -> String {
            String(decoding: page[range].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
        let isEndOfName = { (byte: UInt8) in
            isBlank(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
        }
        name = text(word(until: isEndOfName))
        var attributes: [(String, Range<Int>)] = []
        while index < page.endIndex, page[index] != UInt8(ascii: ">") {
            guard !isBlank(page[index]), page[index] != UInt8(ascii: "/") else {
                index += 1
                continue
            }
            let start = index
            // An `=` at the start belongs to the name (HTML §13.2.5.32).
            if page[index] == UInt8(ascii: "=") { index += 1 }
            _ = word { isEndOfName($0) || $0 == UInt8(ascii: "=") }
            let attribute = text(start..<index)
            while index < page.endIndex, isBlank(page[index]) { index += 1 }
            guard index < page.endIndex, page[index] == UInt8(ascii: "=") else { continue }
            index += 1
            while index < page.endIndex, isBlank(page[index]) { index += 1 }
            guard index < page.endIndex else { break }
            let quote = page[index]
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                index += 1
                attributes.append((attribute, word { $0 == quote }))
                index = min(index + 1, page.endIndex)
            } else {
                attributes.append((attribute, word { isBlank($0) || $0 == UInt8(ascii: ">") }))
            }
        }
        self.attributes = attributes
        isWhole = index < page.endIndex
        self.text = page[..<min(index + 1, page.endIndex)]
    }

    /// The value of an attribute, with references decoded.
    package func value(of attribute: String) -> String? {
        attributes.first { $0.name == attribute }.map { Self.decode(text[$0.value]) }
    }

    /// The tag with the value of each attribute of this name replaced and quoted.
    package func text(replacing attribute: String, _ new: (String) -> String) -> [UInt8] {
        var output: [UInt8] = []
        var end = text.startIndex
        for (name, range) in attributes where name == attribute {
            let isQuoted = [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(text[range.lowerBound - 1])
            output += text[end..<(isQuoted ? range.lowerBound - 1 : range.lowerBound)]
            output += "\"\(Self.encode(new(Self.decode(text[range]))))\"".utf8
            end = min(isQuoted ? range.upperBound + 1 : range.upperBound, text.endIndex)
        }
        return output + text[end...]
    }

    /// The named references of XML. All other characters can be written as numbers.
    private static let references = [("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'")]
    /// The maximum number of bytes of a reference, from `&` to `;`.
    private static let mostReferenceBytes = 32

    /// Decodes the references; those that are not valid stay as they are.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        var rest = bytes
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            decoded += rest[..<start]
            rest = rest[start...]
            if let end = rest.prefix(mostReferenceBytes).firstIndex(of: UInt8(ascii: ";")),
                let text = text(ofReference: rest[start + 1..<end])
            {
                decoded += text.utf8
                rest = rest[(end + 1)...]
            } else {
                decoded.append(rest.removeFirst())
            }
        }
        return String(decoding: decoded + rest, as: UTF8.self)
    }

    /// Returns the character that is written as `&name;`.
    private static func text(ofReference name: ArraySlice<UInt8>) -> String? {
        guard name.first == UInt8(ascii: "#") else {
            return references.first { name.elementsEqual($0.0.utf8) }?.1
        }
        let isHex = name.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        // `UInt32` would accept a sign.
        guard digits.allSatisfy({ ASCII.isDigit($0) || ASCII.isLetter($0) }),
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10), number > 0
        else { return nil }
        return Unicode.Scalar(number).map { String(Character($0)) }
    }

    /// Returns the text with references that a value between quotation marks needs.
    private static func encode(_ text: String) -> String {
        references.reduce(text) { $1.1 == "'" ? $0 : $0.replacing($1.1, by: "&\($1.0);") }
    }
}
