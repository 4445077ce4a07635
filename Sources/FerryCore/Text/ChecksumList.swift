/// A list of digests in the formats of `sha256sum`, `md5sum`, `shasum --tag`, and the BSD and OpenSSL tools.
package struct ChecksumList: Sendable, Hashable {
    /// One line of the list.
    package struct Entry: Sendable, Hashable {
        /// The unescaped file name; `nil` for a digest without a name.
        package var name: String?
        package var checksum: Checksum
    }

    /// The lines that contain a digest, in order; all others are ignored.
    package let entries: [Entry]

    /// Parses lines of the forms `HEX  name`, `HEX *name`, `\HEX  escaped\nname`, `SHA256 (name) = HEX`, and `HEX`.
    ///
    /// A line with an empty name is ignored, because no file has that name and the digest must not match every file.
    package init(_ text: String) {
        entries = TextLines(text).compactMap { Self.entry($0.text.utf8) }
    }

    /// Returns the digest for a file name, the strongest if there are several.
    ///
    /// Names match as a whole, otherwise by their last component. A single entry without a name matches any file.
    /// Returns `nil` if nothing matches, or if equally good matches have different digests.
    package func checksum(for name: String) -> Checksum? {
        if entries.count == 1, entries[0].name == nil { return entries[0].checksum }
        let base = Self.baseName(name)
        // Bytes are compared first; canonical equivalence helps with lists from macOS.
        for isMatch in [
            { $0.hasSameBytes(as: name) }, { $0 == name },
            { $0.hasSameBytes(as: base) || $0.hasSameBytes(as: "./" + base) }, { $0 == base || $0 == "./" + base },
            { Self.baseName($0).hasSameBytes(as: base) }, { Self.baseName($0) == base },
        ] as [(String) -> Bool] {
            let found = entries.filter { $0.name.map(isMatch) ?? false }.map(\.checksum)
            guard let strongest = found.max(by: { $0.algorithm.strength < $1.algorithm.strength }) else { continue }
            let same = found.filter { $0.algorithm == strongest.algorithm }
            return same.allSatisfy { $0 == strongest } ? strongest : nil
        }
        return nil
    }

    private static func entry(_ line: Substring.UTF8View) -> Entry? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let line = isEscaped ? line.dropFirst() : line
        let digits = line.prefix { PercentEncoding.hexValue($0) != nil }
        if let algorithm = DigestAlgorithm(hexDigitCount: digits.count), let bytes = HexText.bytes(digits),
            let checksum = Checksum(algorithm: algorithm, bytes: bytes)
        {
            let rest = line[digits.endIndex...]
            if rest.allSatisfy(ASCII.isWhiteSpace) { return Entry(name: nil, checksum: checksum) }
            guard let blank = rest.first, ASCII.isBlank(blank) else { return nil }
            var name = rest.dropFirst()
            // The second character is the mode: a space for text, `*` for binary.
            if let mode = name.first, ASCII.isBlank(mode) || mode == UInt8(ascii: "*") { name = name.dropFirst() }
            return Self.name(name, isEscaped: isEscaped).map { Entry(name: $0, checksum: checksum) }
        }
        return taggedEntry(line, isEscaped: isEscaped)
    }

    /// Parses `SHA256 (name) = HEX`, and OpenSSL's `SHA2-256(name)= HEX`.
    private static func taggedEntry(_ line: Substring.UTF8View, isEscaped: Bool) -> Entry? {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")),
            let algorithm = DigestAlgorithm(name: Substring(line[..<open])),
            let close = line.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        let tail = Substring(line[line.index(after: close)...]).trimmedText.utf8
        guard tail.first == UInt8(ascii: "="),
            let bytes = HexText.bytes(Substring(tail.dropFirst()).trimmedText.utf8),
            let checksum = Checksum(algorithm: algorithm, bytes: bytes)
        else { return nil }
        return name(line[line.index(after: open)..<close], isEscaped: isEscaped).map {
            Entry(name: $0, checksum: checksum)
        }
    }

    /// Returns `nil` for an empty name, and for a name that ends with an unpaired backslash.
    private static func name(_ bytes: Substring.UTF8View, isEscaped: Bool) -> String? {
        guard !bytes.isEmpty else { return nil }
        guard isEscaped else { return String(Substring(bytes)) }
        var name: [UInt8] = []
        var isAfterBackslash = false
        for byte in bytes {
            if isAfterBackslash {
                switch byte {
                case UInt8(ascii: "n"): name.append(0x0A)
                case UInt8(ascii: "r"): name.append(0x0D)
                default: name.append(byte)
                }
                isAfterBackslash = false
            } else if byte == UInt8(ascii: "\\") {
                isAfterBackslash = true
            } else {
                name.append(byte)
            }
        }
        return isAfterBackslash ? nil : String(decoding: name, as: UTF8.self)
    }

    private static func baseName(_ name: String) -> String {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
        return String(name[name.utf8.index(after: slash)...])
    }
}
