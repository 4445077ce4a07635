import FerryCore
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directories of a list's unfinished downloads, read while the list is closed, without changing it.
package enum UnfinishedDirectories {
    /// The absolute paths of the directories; `nil` if the list is missing, unreadable or incomplete.
    ///
    /// `state` is the directory of the catalogue.
    package static func read(state: String) -> [String]? {
        let path = state + "/" + Catalogue.fileName
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let database = try Database(path: path, .readOnly)
            guard try CatalogueSchema.isComplete(database), try CatalogueLocation.isStored(database) else { return nil }
            let over = StateKind.allCases.filter(\.isOver).map { "'\($0.rawValue)'" }.joined(separator: ", ")
            // One row for each destination suffices.
            let sql = """
                SELECT \(CatalogueColumns.selection) FROM download WHERE state NOT IN (\(over)) GROUP BY place
                """
            var directories: Set<FilePath> = []
            // An unreadable row is skipped, as it is when the list is read.
            try database.forEach(sql) { row in
                guard let directory = (try? CatalogueColumns.row(row))?.directory else { return }
                directories.insert(FilePath(directory))
            }
            return directories.map(\.string).sorted()
        } catch { return nil }
    }
}
