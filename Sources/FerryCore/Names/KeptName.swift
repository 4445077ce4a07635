/// Names of the files in a set: unchanged, unless they have another meaning to this system or to Ferry.
///
/// Changes, in this order:
/// - control, format and noncharacters, line separators, U+FFFD, and the separators `/` and `\` of this and other
///   systems are replaced by `_`, as in ``SafeName``;
/// - a `_` is appended to names of dots and spaces only, which a file system that drops these characters would treat as the
///   name of a directory;
/// - a `_` is put before a leading combining mark;
/// - a `_` is appended to names that Ferry reserves (``ReservedName``), or replaces a leading dot;
/// - names longer than ``maxBytes`` are cut.
///
/// Every name that ``SafeName`` returns is also unchanged here.
package enum KeptName {
    /// The maximum length in bytes that every common file system permits.
    static let maxBytes = 255

    /// Returns the name in a set; `nil` for an empty name, for the name of a directory, or if no valid name can be made.
    ///
    /// Idempotent.
    package static func make(_ name: String) -> String? {
        if SafeName.isPlain(name) { return name }
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        let separated = String(
            decoding: name.utf8.map { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self)
        var current = SafeName.replacingUnsafe(separated, keepsPunctuation: true)
        // Cutting can produce a reserved name, and changing that name can make it too long again.
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
