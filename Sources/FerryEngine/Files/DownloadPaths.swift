import FerryCore
package import SystemPackage

/// The names that one download takes up in its directory: the final one and those beside it.
package struct DownloadPaths: Sendable, Hashable {
    package static let partSuffix = ".part"
    package static let journalSuffix = ".part.ferry"
    /// What is added to both when they are put aside.
    package static let oldSuffix = ".old"

    package let directory: FilePath
    /// The final name: one component.
    package let name: String

    /// Takes a directory and a name; `nil` when that is not a bare name. An empty directory is the working directory.
    package init?(directory: FilePath, name: String) {
        guard Self.isBareName(name) else { return nil }
        self.directory = directory.isEmpty ? "." : directory
        self.name = name
    }

    /// Takes the path of a part file or journal, or a final path; `nil` when it ends in no name.
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

    package var final: FilePath { path("") }
    package var part: FilePath { path(Self.partSuffix) }
    package var journal: FilePath { path(Self.journalSuffix) }
    /// The part file of the generation before, set aside.
    package var oldPart: FilePath { path(".part.old") }
    /// The journal of the generation before, set aside.
    package var oldJournal: FilePath { path(".part.ferry.old") }
    /// Where a journal is rewritten before it takes its place.
    package var newJournal: FilePath { path(".part.ferry.new") }

    private func path(_ suffix: String) -> FilePath { directory.appending(name + suffix) }

    /// Whether `name` names something in a directory and nothing outside it: 1 to 255 bytes, no `/`, no NUL, not `.`
    /// or `..`.
    package static func isBareName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
