/// The type of a Content-Type field, without its parameters (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// In lower case: `text`.
    package let type: String
    /// In lower case: `html`.
    package let subtype: String

    /// `nil` when it is not two tokens with a slash between them.
    package init?(_ field: String) {
        let bytes = Array(field.utf8.prefix(1024).prefix { $0 != UInt8(ascii: ";") })
        let parts = ASCII.trimmed(bytes[...]).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isToken) }) else { return nil }
        type = String(decoding: parts[0].map(ASCII.lowercased), as: UTF8.self)
        subtype = String(decoding: parts[1].map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether this is a page, as captive portals and sign-in forms send in place of a file.
    package var isHTML: Bool {
        type == "text" && subtype == "html" || type == "application" && subtype == "xhtml+xml"
    }

    package var description: String { "\(type)/\(subtype)" }
}
