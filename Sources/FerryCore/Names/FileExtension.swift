/// Extensions of file names.
package enum FileExtension {
    /// Splits a name into `("name", ".ext")`; `.tar.gz` and similar endings are one extension.
    ///
    /// An extension is 1…20 bytes without white space after the last dot, which is not the first character of the name.
    package static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = lastDot(in: name[...]) else { return (name, "") }
        let stem = name[..<dot]
        guard let inner = lastDot(in: stem), ASCII.lowercased(stem[inner...]) == ".tar" else {
            return (String(stem), String(name[dot...]))
        }
        return (String(stem[..<inner]), String(name[inner...]))
    }

    private static func lastDot(in name: Substring) -> Substring.Index? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let tail = name[dot...]
        guard (2...21).contains(tail.utf8.count) else { return nil }
        // The bytes of nearly every extension show that it has no white space.
        let isPlain = tail.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain || !tail.unicodeScalars.contains(where: \.properties.isWhitespace) ? dot : nil
    }
}
