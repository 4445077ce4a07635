// Text is searched and split by UTF-8 bytes, as in shells, file systems and protocols. `String` works by `Character`: a
// slash, quote or line feed followed by a combining mark is another `Character`, and canonically equivalent texts are
// equal. `Scripts/check-imports` rejects the `Character` forms.
//
// Code that is generic over the collection is inlinable. Unspecialized, its first calls would search all conformances
// of the program for witness tables, which takes longer than the request of a small download.

extension Collection where Element == UInt8 {
    /// Whether the bytes begin with those of `text`.
    @inlinable package func hasPrefix(_ text: some StringProtocol) -> Bool { starts(with: text.utf8) }

    /// Whether the bytes contain those of `text`, which must not be empty.
    @inlinable package func contains(_ text: some StringProtocol) -> Bool { firstRange(of: text) != nil }

    /// Returns the first range with the bytes of `text`, which must not be empty; `nil` if there is none.
    @inlinable package func firstRange(of text: some StringProtocol) -> Range<Index>? {
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
    /// Whether the bytes end with those of `text`.
    @inlinable package func hasSuffix(_ text: some StringProtocol) -> Bool {
        reversed().starts(with: text.utf8.reversed())
    }
}

extension StringProtocol {
    /// Splits at the ASCII characters `separator`, by bytes.
    package func split(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        Substring(self).utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map { Substring($0) }
    }

    /// Returns the text after `prefix`, compared by bytes; `nil` if the text does not begin with it.
    package func dropping(prefix: String) -> Substring? {
        let bytes = Substring(self).utf8
        return bytes.starts(with: prefix.utf8) ? Substring(bytes.dropFirst(prefix.utf8.count)) : nil
    }

    /// Returns the text before `suffix`, compared by bytes; `nil` if the text does not end with it.
    package func dropping(suffix: String) -> Substring? {
        let bytes = Substring(self).utf8
        let isThere = bytes.reversed().starts(with: suffix.utf8.reversed())
        return isThere ? Substring(bytes.dropLast(suffix.utf8.count)) : nil
    }

    /// Returns the text with each occurrence of `old`, which must not be empty, replaced by `new`, by bytes.
    package func replacing(_ old: String, by new: String) -> String {
        var text = ""
        var rest = Substring(self).utf8
        while let range = rest.firstRange(of: old) {
            text += Substring(rest[..<range.lowerBound]) + new
            rest = rest[range.upperBound...]
        }
        return text + Substring(rest)
    }

    /// Whether both texts have the same bytes; `==` treats canonically equivalent texts as equal.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
