/// The text form of IPv6 addresses (RFC 4291 §2.2, RFC 5952).
enum IPv6Text {
    /// Returns the canonical text: lower case, no leading zeros, the longest run of zeros as `::`; `nil` when invalid.
    static func normalize(_ bytes: ArraySlice<UInt8>) -> String? { groups(bytes).map(format) }

    /// Parses eight groups of 16 bits.
    static func groups(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        guard bytes.count >= 2, bytes.count <= 45 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let halves = splitOnce(text)
        guard let head = list(halves.head, isLast: halves.tail == nil) else { return nil }
        guard let tailText = halves.tail else { return head.count == 8 ? head : nil }
        guard let tail = list(tailText, isLast: true), head.count + tail.count <= 7 else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    static func format(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start + 1)
        }
        let hex = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !best.isEmpty else { return hex(groups[...]) }
        return hex(groups[..<best.lowerBound]) + "::" + hex(groups[best.upperBound...])
    }

    /// Splits the text at the first `::`.
    private static func splitOnce(_ text: String) -> (head: Substring, tail: Substring?) {
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" {
                return (text[..<index], text[text.index(after: next)...])
            }
            index = next
        }
        return (text[...], nil)
    }

    /// Parses groups between colons; the last may be an IPv4 address, which counts as two groups.
    private static func list(_ text: Substring, isLast: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(at: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.utf8.contains(UInt8(ascii: ".")) {
                guard isLast, index == parts.count - 1, HostName.isIPv4(part) else { return nil }
                let bytes = part.split(at: ".").compactMap { UInt16($0) }
                guard bytes.count == 4 else { return nil }
                groups += [bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3]]
            } else {
                guard part.utf8.count <= 4, part.utf8.allSatisfy({ PercentEncoding.hexValue($0) != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }
}
