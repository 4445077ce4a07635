/// Names of the files of a set: as the source has them, unless this system or Ferry takes them for something else.
///
/// Changed are, in this order:
/// - control, format and noncharacters, line separators, U+FFFD and the separators `/` and `\` of this and of other systems:
///   each is replaced by `_`, as in ``SafeName``;
/// - names of dots and blanks alone, which a file system that leaves them out takes for a directory: a `_` is appended;
/// - a leading combining mark: a `_` is put before it;
/// - names that mean something to Ferry (``ReservedName``): a `_` is appended, or takes the place of a leading dot;
/// - names of more than ``maxBytes``: they are cut.
///
/// Every name of ``SafeName`` is also one of these.
package enum KeptName {
    /// The maximum length in bytes, of every common file system.
    static let maxBytes = 255

    /// Returns the name in a set; `nil` for one that is empty or of a directory, and if no name is found.
    ///
    /// Idempotent.
    package static func make(_ name: String) -> String? {
        if SafeName.isPlain(name) { return name }
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        let separated = String(
            decoding: name.utf8.map { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self)
        var current = SafeName.replacingUnsafe(separated, keepsPunctuation: true)
        // Cutting can expose a name with a meaning, and mending that can make the name too long again.
        for _ in 0..<8 {
            let next = SafeName.cut(mended(current), to: maxBytes)
            if next.utf8.elementsEqual(current.utf8) { return next }
            current = next
        }
        return nil
    }

    private static func mended(_ name: String) -> String {
        let scalars = name.unicodeScalars
        if scalars.allSatisfy({ $0 == "." || $0.properties.isWhitespace }) { return name + "_" }
        if let first = scalars.first, SafeName.joinsWhatIsBefore(first) { return "_" + name }
        guard ReservedName(name) != nil else { return name }
        if ReservedName(name + "_") == nil { return name + "_" }
        return "_" + String(name.utf8.first == UInt8(ascii: ".") ? scalars.dropFirst() : scalars[...])
    }
}
