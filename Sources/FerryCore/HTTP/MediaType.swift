/// The media type of a Content-Type field, without parameters (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// The type in lower case: `text`.
    package let type: String
    /// The subtype in lower case: `html`.
    package let subtype: String

    /// Returns `nil` unless the text before any parameters is two tokens separated by a slash.
    package init?(_ field: String) {
        let bytes = Array(field.utf8.prefix(1024).prefix { $0 != UInt8(ascii: ";") })
        let parts = ASCII.trimmed(bytes[...]).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isToken) }) else { return nil }
        type = String(decoding: parts[0].map(ASCII.lowercased), as: UTF8.self)
        subtype = String(decoding: parts[1].map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether the type is that of a web page, as sent by captive portals and sign-in forms.
    package var isHTML: Bool {
        type == "text" && subtype == "html" || type == "application" && subtype == "xhtml+xml"
    }

    package var description: String { "\(type)/\(subtype)" }
}
