// Text is searched and divided by its UTF-8 bytes, as shells, file systems and protocols do. `String` searches by
// `Character`: a slash, quote or line feed with a combining mark behind it is another `Character`, and two canonically
// equivalent texts are one. `Scripts/check-imports` refuses the `Character` forms.

extension Collection where Element == UInt8 {
    /// Whether the bytes of `text` are the first ones.
    package func hasPrefix(_ text: some StringProtocol) -> Bool { starts(with: text.utf8) }

    /// Whether the bytes of `text`, which is not empty, are there one after the other.
    package func contains(_ text: some StringProtocol) -> Bool { firstRange(of: text) != nil }

    /// Where the bytes of `text`, which is not empty, are found first; `nil` when they are not there.
    package func firstRange(of text: some StringProtocol) -> Range<Index>? {
        guard let first = text.utf8.first else { return nil }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: text.utf8) { return start..<index(start, offsetBy: text.utf8.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}

extension BidirectionalCollection where Element == UInt8 {
    /// Whether the bytes of `text` are the last ones.
    package func hasSuffix(_ text: some StringProtocol) -> Bool {
        reversed().starts(with: text.utf8.reversed())
    }
}

extension StringProtocol {
    /// The parts between the ASCII characters `separator`, by bytes.
    package func split(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        Substring(self).utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map { Substring($0) }
    }

    /// What follows `prefix`, by bytes; `nil` where the text does not begin with it.
    package func dropping(prefix: String) -> Substring? {
        let bytes = Substring(self).utf8
        return bytes.starts(with: prefix.utf8) ? Substring(bytes.dropFirst(prefix.utf8.count)) : nil
    }

    /// What precedes `suffix`, by bytes; `nil` where the text does not end with it.
    package func dropping(suffix: String) -> Substring? {
        let bytes = Substring(self).utf8
        let isThere = bytes.reversed().starts(with: suffix.utf8.reversed())
        return isThere ? Substring(bytes.dropLast(suffix.utf8.count)) : nil
    }

    /// Whether both have the same bytes; `==` holds canonically equivalent texts for equal.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
