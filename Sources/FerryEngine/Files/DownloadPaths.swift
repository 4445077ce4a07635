import Crypto
import FerryCore
package import SystemPackage

/// The paths of one download in its directory: the final file and the files beside it.
///
/// The file system allows names of 255 bytes. If a final name leaves no room for the suffixes, the other files are called
/// `PREFIX~DIGEST.part` and so on.
package struct DownloadPaths: Sendable, Hashable {
    package static let partSuffix = ReservedName.part.text
    package static let journalSuffix = ReservedName.journal.text
    /// The suffix of a part file or journal in the backup.
    package static let oldSuffix = ReservedName.backup.text

    package let directory: FilePath
    /// The final name: one component.
    package let name: String

    /// Creates the paths of `name` in a directory; `nil` if it is not a bare name. An empty directory is the working
    /// directory.
    package init?(directory: FilePath, name: String) {
        guard Self.isBareName(name) else { return nil }
        self.directory = directory.isEmpty ? "." : directory
        self.name = name
    }

    /// Creates the paths for the name to try after `number` others: the wanted name, then `a (1).txt` and so on; `nil` if that
    /// is not a bare name.
    package init?(_ wanted: String, number: Int, in directory: FilePath) {
        self.init(directory: directory, name: number == 0 ? wanted : SafeName.numbered(wanted, number))
    }

    /// Creates the paths beside a final path, whatever its suffix; `nil` if it has no last component.
    package init?(final path: FilePath) {
        guard let last = path.lastComponent, last.kind == .regular else { return nil }
        self.init(directory: path.removingLastComponent(), name: last.string)
    }

    /// Derives the paths from a part file, a journal, or a final path; `nil` if the path has no last component.
    package init?(of path: FilePath) {
        guard let last = path.lastComponent, last.kind == .regular else { return nil }
        var name = last.string
        for suffix in [Self.journalSuffix, Self.partSuffix] {
            guard let stem = name.dropping(suffix: suffix), !stem.isEmpty else { continue }
            name = String(stem)
            break
        }
        self.init(directory: path.removingLastComponent(), name: name)
    }

    /// The paths of the original name if this name is a numbered alternative; otherwise `nil`.
    package var unnumbered: DownloadPaths? {
        guard let close = name.utf8.lastIndex(of: UInt8(ascii: ")")),
            let open = name.utf8[..<close].lastIndex(of: UInt8(ascii: "(")), open > name.startIndex,
            let number = Int(name[name.utf8.index(after: open)..<close])
        else { return nil }
        let wanted = String(name[..<name.utf8.index(before: open)] + name[name.utf8.index(after: close)...])
        let paths = DownloadPaths(directory: directory, name: wanted)
        return number > 0 && DownloadPaths(wanted, number: number, in: directory) == self ? paths : nil
    }

    package var final: FilePath { path("") }
    package var part: FilePath { path(Self.partSuffix) }
    package var journal: FilePath { path(Self.journalSuffix) }
    /// The part file in the backup.
    package var oldPart: FilePath { path(Self.partSuffix + Self.oldSuffix) }
    /// The journal in the backup.
    package var oldJournal: FilePath { path(Self.journalSuffix + Self.oldSuffix) }
    /// The temporary file of a journal that is being rewritten.
    package var newJournal: FilePath { Self.draft(of: journal) }

    /// Returns whether a file or a part file has the name; `false` if that cannot be determined.
    func isInUse(_ fileSystem: any FileSystem) -> Bool {
        [final, part].contains { (try? fileSystem.exists($0)) == true }
    }

    /// The path of the temporary file, beside the record, while the record is being written.
    package static func draft(of record: FilePath) -> FilePath { FilePath(record.string + ReservedName.draft.text) }

    /// Whether the name may be a shortened one; the journal then contains the whole name.
    package var isShortened: Bool {
        let end = name.utf8.suffix(Self.digestDigits + 1)
        return end.count > Self.digestDigits && name.utf8.count <= Self.room && end.first == Self.mark
            && end.dropFirst().allSatisfy { PercentEncoding.hexValue($0) != nil }
    }

    private static let mark = UInt8(ascii: "~")
    private static let digestDigits = 16
    /// The maximum length of a name in bytes that leaves room for the longest suffix: that of a journal that is being written.
    private static let room = 255 - ReservedName.longestSuffix.utf8.count

    private func path(_ suffix: String) -> FilePath { directory.appending((suffix.isEmpty ? name : stem) + suffix) }

    /// The name, or if it is too long, its prefix and a digest of the whole name, so that different names have different part
    /// files.
    private var stem: String {
        guard name.utf8.count > Self.room else { return name }
        let digest = HexText.string(SHA256.hash(data: Array(name.utf8)).prefix(Self.digestDigits / 2))
        return SafeName.prefix(of: name, bytes: Self.room - Self.digestDigits - 1) + "~" + digest
    }

    /// Returns whether `name` is a single path component: 1 to 255 bytes, no `/`, no NUL, not `.` or `..`.
    package static func isBareName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
