/// The issuer of a certificate in DER encoding (X.690; the fields of RFC 5280 §4.1).
enum CertificateIssuer {
    /// Whether a certificate names itself as its issuer, and so was not signed by an authority. `false` for bytes that are not
    /// a certificate.
    static func isSelfSigned(_ certificate: [UInt8]) -> Bool {
        var whole = Elements(rest: certificate[...])
        guard var signed = whole.next(.sequence), var fields = signed.next(.sequence) else { return false }
        // The version comes first, or is absent.
        _ = fields.next(.version)
        guard fields.next(.integer) != nil, fields.next(.sequence) != nil, let issuer = fields.next(.sequence),
            fields.next(.sequence) != nil, let subject = fields.next(.sequence)
        else { return false }
        return !issuer.rest.isEmpty && issuer.rest.elementsEqual(subject.rest)
    }

    private enum Tag: UInt8 {
        case integer = 0x02
        case sequence = 0x30
        case version = 0xA0
    }

    /// The concatenated elements of a value.
    private struct Elements {
        var rest: ArraySlice<UInt8>

        /// Removes the first element and returns its value. Returns `nil` and keeps the element if it has another tag
        /// or is truncated.
        mutating func next(_ tag: Tag) -> Elements? {
            var rest = rest
            guard rest.popFirst() == tag.rawValue, let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                let count = Int(first & 0x7F)
                guard 1...3 ~= count, rest.count >= count else { return nil }
                length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(count)
            }
            guard length <= rest.count else { return nil }
            self.rest = rest.dropFirst(length)
            return Elements(rest: rest.prefix(length))
        }
    }
}
