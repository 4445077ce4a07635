/// The names of files that mean something to Ferry beside downloaded files: each is built and recognised by this list
/// alone.
///
/// A file that a server, a list or an index page names never gets one of them (``SafeName``, and with it Metalink
/// documents, sets and templates), so it cannot become a record. A name that the user gives is used as it is, or refused
/// if it is that of a record (``ExactName``). `make lint` refuses these texts in other files.
package enum ReservedName: CaseIterable, Sendable {
    /// `NAME.part`: the bytes of an unfinished download, also in Firefox.
    case part
    /// `NAME.crdownload`: likewise in Chrome.
    case chromePart
    /// `NAME.part.ferry`: the journal of a part file.
    case journal
    /// `NAME.part.old`, `NAME.part.ferry.old`: the files of the server's earlier version.
    case backup
    /// `.NAME.ferry-digests`: the digests of the pieces of a finished file.
    case digests
    /// `ferry-manifest.jsonl`: what the last sync of a directory has fetched.
    case manifest
    /// `NAME.aria2`: which bytes of its file aria2 has written.
    case aria2Control
    /// `RECORD.new`: a record that is being written.
    case draft
    /// `.incoming-DIGEST`: a file that is about to get its name, which may be that of its content.
    case incoming
    /// `.ferry-NUMBER.tmp`: shows the owner and mode that a file system gives to new files.
    case sample
    /// `NAME.ferry`: no file of this version.
    case own

    /// The text that is the whole name, or its end or beginning.
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

    /// Whether the content of such a file is believed, so that other files are written, changed or removed by what it says.
    package var isRecord: Bool {
        switch self {
        case .journal, .digests, .manifest, .aria2Control: true
        // The bytes of a part file are used by what its journal says; nothing is decided by the others.
        case .part, .chromePart, .backup, .draft, .incoming, .sample, .own: false
        }
    }

    /// The longest text that is appended to the name of a download.
    package static let longestSuffix = ReservedName.journal.text + ReservedName.backup.text

    /// The meaning of a name; `nil` if it has none.
    ///
    /// Names are compared as the most generous file systems do: without case, and without what they leave out, such as
    /// trailing dots and blanks.
    package init?(_ name: String) {
        let bytes = Self.folded(name)
        guard let found = Self.allCases.first(where: { $0.matches(bytes) }) else { return nil }
        self = found
    }

    /// Returns which record has this name, also as a draft or in a backup; `nil` if none.
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
                // Without case `ſ` is `s` and `ﬆ` is `st`, and canonically U+212A is `K`.
                for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                    bytes += upper.properties.lowercaseMapping.utf8
                }
            }
        }
        while let last = bytes.last, last == UInt8(ascii: ".") || ASCII.isWhiteSpace(last) { bytes.removeLast() }
        return bytes[...]
    }
}
