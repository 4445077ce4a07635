/// The value of a Content-Range field (RFC 9110 §14.4).
package enum ContentRange: Hashable, Sendable {
    /// `bytes 0-499/1234`: a half-open range and the total; a total of `*` is `nil`.
    case part(Range<Int64>, total: Int64?)
    /// `bytes */1234`: an unsatisfied range with the total.
    case unsatisfied(total: Int64?)

    /// Returns `nil` for anything else: another unit, a last position before the first, a total that does not include
    /// the last byte, numbers that are signed, missing or not below ``ByteCount/bound``, `bytes=`, inner spaces.
    package init?(_ field: String) {
        guard field.utf8.count <= 128 else { return nil }
        let bytes = ASCII.trimmed(Array(field.utf8)[...])
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            bytes[..<space].map(ASCII.lowercased) == Array("bytes".utf8),
            let slash = bytes[space...].firstIndex(of: UInt8(ascii: "/"))
        else { return nil }
        let range = bytes[(space + 1)..<slash]
        let totalText = bytes[(slash + 1)...]
        let isUnknown = totalText.elementsEqual("*".utf8)
        let total = ASCII.size(totalText)
        guard total != nil || isUnknown else { return nil }
        if range.elementsEqual("*".utf8) {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")),
            let first = ASCII.size(range[..<dash]), let last = ASCII.size(range[(dash + 1)...]),
            first <= last, (last + 1).isSize, last < total ?? .bound
        else { return nil }
        self = .part(first..<(last + 1), total: total)
    }
}
