import FerryCore
import FerryEngine
import SystemPackage

/// The directories of a catalogue. The database stores the directories that were used when it was last opened, so that stored paths
/// can be rewritten if the downloads directory has moved, as an app's container does when the app is updated.
struct CatalogueLocation: Sendable {
    /// The directory of the catalogue, absolute.
    let state: String
    /// The default directory for downloads, absolute, without a trailing slash.
    let downloads: String

    init(state: String, downloads: String) {
        self.state = state
        var trimmed = downloads[...]
        while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        self.downloads = String(trimmed)
    }

    /// Stores the location. If the downloads directory was moved, rewrites the stored paths in the previous directory. If another
    /// directory was merely chosen instead, the stored paths stay unchanged.
    func store(_ db: Database, _ fileSystem: any FileSystem) throws {
        let previous = try db.first("SELECT state, downloads FROM location") { row in
            CatalogueLocation(state: try row[0], downloads: try row[1])
        }
        if let previous {
            if previous.hasSamePaths(as: self) { return }
            if try hasMoved(from: previous, db, fileSystem) {
                // A path to rewrite is the directory itself or lies inside it.
                try CatalogueSchema.replacePaths(db, [previous.downloads, downloads]) { path in
                    """
                    CASE WHEN \(path) = ?1 OR substr(\(path), 1, length(?1) + 1) = ?1 || '/'
                    THEN ?2 || substr(\(path), length(?1) + 1) ELSE \(path) END
                    """
                }
            }
        }
        try db.run("DELETE FROM location")
        try db.run("INSERT INTO location (state, downloads) VALUES (?, ?)", [state, downloads])
    }

    /// Returns whether the database of a closed catalogue stores a location, and therefore contains absolute paths.
    static func isStored(_ db: Database) throws -> Bool {
        try db.first("SELECT 1 FROM sqlite_master WHERE name = 'location'") { _ in true } ?? false
    }

    private func hasSamePaths(as other: CatalogueLocation) -> Bool {
        state.hasSameBytes(as: other.state) && downloads.hasSameBytes(as: other.downloads)
    }

    /// Whether the previous downloads directory no longer exists. If the catalogue was moved, a directory that this process may
    /// not access belongs to the app's previous container and counts as gone.
    private func isGone(_ previous: CatalogueLocation, _ fileSystem: any FileSystem) -> Bool {
        do throws(FileError) { return try !fileSystem.exists(FilePath(previous.downloads)) } catch {
            return error.kind == .permission && !state.hasSameBytes(as: previous.state)
        }
    }

    /// Whether the previous downloads directory was moved to the new path: the previous directory is gone, and either the catalogue
    /// was moved too or the new directory contains a file of the download list.
    private func hasMoved(
        from previous: CatalogueLocation, _ db: Database, _ fileSystem: any FileSystem
    ) throws -> Bool {
        guard !downloads.hasSameBytes(as: previous.downloads), isGone(previous, fileSystem) else { return false }
        if !state.hasSameBytes(as: previous.state) { return true }
        var isHere = false
        try db.forEach(
            """
            SELECT substr(file, length(?1) + 2)
            FROM (SELECT path AS file FROM download UNION ALL SELECT part FROM download)
            WHERE substr(file, 1, length(?1) + 1) = ?1 || '/'
            """, [previous.downloads]
        ) { row in
            let file: String = try row[0]
            if !isHere { isHere = (try? fileSystem.exists(FilePath(downloads).appending(file))) == true }
        }
        return isHere
    }
}
