/// The Range field of a request, applied to a representation of known length (RFC 9110 §14.2).
package enum RangeField: Hashable, Sendable {
    /// The whole representation is sent: there is no field, another unit, a malformed value, or several ranges.
    case whole
    /// One non-empty range of bytes within the representation.
    case part(Range<ByteCount>)
    /// No byte of the range exists.
    case unsatisfiable

    /// Applies the field to a representation of `length` bytes, at least 0; `field` is `nil` if the request has none.
    ///
    /// Positions have no upper limit: one beyond any file is applied like one beyond the end of this representation.
    ///
    /// A server may ignore the field. Several ranges are ignored, because their response would have several parts.
    package init(_ field: String?, length: ByteCount) {
        self = .whole
        guard let field, let eq = field.utf8.firstIndex(of: UInt8(ascii: "=")),
            ASCII.lowercased(field[..<eq]) == "bytes"
        else { return }
        let parts = ASCII.trimmed(Array(field[eq...].utf8.dropFirst())[...])
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty || !parts[1].isEmpty else { return }
        let (first, last) = (ASCII.clampedNumber(parts[0]), ASCII.clampedNumber(parts[1]))
        // The value contains bytes other than digits, or several ranges.
        if first == nil && !parts[0].isEmpty || last == nil && !parts[1].isEmpty { return }
        if let first {
            if let last, last < first { return }
            let end = last.map { $0 < length ? $0 + 1 : length } ?? length
            self = first < length ? .part(first..<end) : .unsatisfiable
        } else if let last {
            self = last > 0 && length > 0 ? .part(max(0, length - last)..<length) : .unsatisfiable
        }
    }
}
