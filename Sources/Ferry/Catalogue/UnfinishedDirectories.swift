import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directories of a list's unfinished downloads, read while the list is closed, without changing it.
package enum UnfinishedDirectories {
    /// The directories, absolute; `nil` if there is no list, or it is unreadable or incomplete.
    ///
    /// `state` is the directory of the catalogue.
    package static func read(state: String) -> [String]? {
        let path = state + "/" + Catalogue.fileName
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let database = try Database(path: path, .readOnly)
            guard try CatalogueSchema.isComplete(database), try CatalogueLocation.isStored(database) else { return nil }
            let over = StateKind.allCases.filter(\.isOver).map { "'\($0.rawValue)'" }.joined(separator: ", ")
            // One row of each destination suffices.
            let sql = """
                SELECT \(CatalogueColumns.selection) FROM download WHERE state NOT IN (\(over)) GROUP BY place
                """
            var directories: Set<String> = []
            // An unreadable row is not listed either.
            try database.forEach(sql) { row in
                if let directory = (try? CatalogueColumns.row(row))?.directory { directories.insert(directory) }
            }
            return directories.sorted()
        } catch { return nil }
    }
}
