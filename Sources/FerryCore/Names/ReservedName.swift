/// The names that Ferry reserves for its own files and for the part files of other programs. Only this type builds and
/// recognises them.
///
/// ``SafeName`` never gives one of them to a file that a server, a list or an index page names, so such a file cannot
/// be mistaken for a record. A name that the user gives is used unchanged, or refused if it is the name of a record
/// (``ExactName``). `make lint` refuses these texts in other files.
package enum ReservedName: CaseIterable, Sendable {
    /// `NAME.part`: the bytes of an unfinished download, in Ferry and in Firefox.
    case part
    /// `NAME.crdownload`: the bytes of an unfinished download in Chrome.
    case chromePart
    /// `NAME.part.ferry`: the journal of a part file.
    case journal
    /// `NAME.part.old`, `NAME.part.ferry.old`: the part file and journal of an earlier version of the file on the
    /// server.
    case backup
    /// `.NAME.ferry-digests`: the digests of the pieces of a finished file.
    case digests
    /// `ferry-manifest.jsonl`: the files that the last sync of a directory fetched.
    case manifest
    /// `NAME.aria2`: the record of the bytes that aria2 has written to its file.
    case aria2Control
    /// `RECORD.new`: a record that is being written.
    case draft
    /// `.incoming-DIGEST`: a file before it is renamed to its final name. The digest is that of its URL or of its final name.
    case incoming
    /// `.ferry-NUMBER.tmp`: a sample that shows the owner and mode that a file system gives to new files.
    case sample
    /// `NAME.ferry`: reserved; this version of Ferry writes no such file.
    case own

    /// The reserved text: a whole name, or the end or beginning of one.
    package var text: String {
        switch self {
        case .part: ".part"
        case .chromePart: ".crdownload"
        case .journal: ".part.ferry"
        case .backup: ".old"
        case .digests: ".ferry-digests"
        case .manifest: "ferry-manifest.jsonl"
        case .aria2Control: ".aria2"
        case .draft: ".new"
        case .incoming: ".incoming-"
        case .sample: ".ferry-"
        case .own: ".ferry"
        }
    }

    /// Whether Ferry trusts the content of such a file when it writes, changes or removes other files.
    package var isRecord: Bool {
        switch self {
        case .journal, .digests, .manifest, .aria2Control: true
        // The journal records which bytes of a part file are valid; the content of the other files has no such effect.
        case .part, .chromePart, .backup, .draft, .incoming, .sample, .own: false
        }
    }

    /// The longest text that is appended to the name of an unfinished download.
    package static let longestSuffix = ReservedName.journal.text + ReservedName.backup.text

    /// The meaning of a name; `nil` if it is not reserved.
    ///
    /// Names are compared as the most lenient file systems compare them: ignoring case, and ignoring what those file
    /// systems drop, such as trailing dots and spaces.
    package init?(_ name: String) {
        let bytes = Self.folded(name)
        guard let found = Self.allCases.first(where: { $0.matches(bytes) }) else { return nil }
        self = found
    }

    /// Returns the record that a name denotes, with or without the suffix of a draft or a backup; `nil` if it denotes
    /// none.
    package static func record(_ name: String) -> ReservedName? { record(folded(name)) }

    private static func record(_ bytes: ArraySlice<UInt8>) -> ReservedName? {
        if let found = allCases.first(where: { $0.isRecord && $0.matches(bytes) }) { return found }
        for around in [draft, backup] where bytes.count > around.text.utf8.count && around.ends(bytes) {
            if let found = record(bytes.dropLast(around.text.utf8.count)) { return found }
        }
        return nil
    }

    private func matches(_ name: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .manifest: name.elementsEqual(text.utf8)
        case .incoming, .sample: name.starts(with: text.utf8)
        case .draft: ends(name) && Self.record(name.dropLast(text.utf8.count)) != nil
        case .part, .chromePart, .journal, .backup, .digests, .aria2Control, .own: ends(name)
        }
    }

    private func ends(_ name: ArraySlice<UInt8>) -> Bool { name.suffix(text.utf8.count).elementsEqual(text.utf8) }

    /// Returns the bytes of a name in the form in which names are compared.
    private static func folded(_ name: String) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for scalar in name.unicodeScalars {
            if scalar.isASCII {
                bytes.append(ASCII.lowercased(UInt8(scalar.value)))
            } else if scalar.properties.isWhitespace {
                bytes.append(UInt8(ascii: " "))
            } else if !scalar.properties.isDefaultIgnorableCodePoint {
                // Ignoring case, `ſ` is `s` and `ﬆ` is `st`; canonically, U+212A is `K`.
                for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                    bytes += upper.properties.lowercaseMapping.utf8
                }
            }
        }
        while let last = bytes.last, last == UInt8(ascii: ".") || ASCII.isWhiteSpace(last) { bytes.removeLast() }
        return bytes[...]
    }
}
