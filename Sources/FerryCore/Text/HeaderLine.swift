package import HTTPTypes

/// The parser for header fields of the form `Name: value`.
package enum HeaderLine {
    /// Parses one field; spaces around the value are dropped, and the value may be empty.
    package static func parse(_ text: String) throws(TextError) -> HTTPField {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw TextError("a header is written as \"Name: value\", this one has no colon")
        }
        let nameText = text[..<colon].trimmedText
        guard !nameText.isEmpty else { throw TextError("a header is written as \"Name: value\", this one has no name") }
        guard nameText.utf8.allSatisfy(ASCII.isToken), let name = HTTPField.Name(nameText) else {
            throw TextError("the header's name has an invalid character; write it as \"Name: value\"")
        }
        let bytes = Array(text[text.utf8.index(after: colon)...].utf8)
        let value = ASCII.trimmed(bytes[...])
        guard !value.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) else {
            throw TextError("the header \(nameText) has a line break or another control character in its value")
        }
        return HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
    }

    /// Parses a file with one field per line; empty lines and lines beginning with `#` are skipped.
    ///
    /// - Throws: An error for the first malformed line, with its number.
    package static func parseFile(_ text: String) throws(TextError) -> HTTPFields {
        var fields = HTTPFields()
        for line in TextLines(text) {
            guard let first = line.text.utf8.first(where: { !ASCII.isWhiteSpace($0) }), first != UInt8(ascii: "#")
            else {
                continue
            }
            do {
                fields.append(try parse(String(line.text)))
            } catch {
                throw TextError(error.reason, line: line.number)
            }
        }
        return fields
    }

    /// Whether Ferry sets this field itself, because a user's value would break a download: framing, ranges,
    /// conditions, coding, the connection.
    package static func isReserved(_ name: HTTPField.Name) -> Bool { reserved.contains(name.canonicalName) }

    /// Whether a reserved field concerns only the connection, so that the same file is downloaded without it.
    package static func isOfConnection(_ name: HTTPField.Name) -> Bool { ofConnection.contains(name.canonicalName) }

    private static let ofConnection: Set<String> = [
        "accept-encoding", "connection", "keep-alive", "proxy-connection", "te",
    ]
    private static let reserved = ofConnection.union([
        "content-length", "expect", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "range", "trailer", "transfer-encoding", "upgrade",
    ])
}
