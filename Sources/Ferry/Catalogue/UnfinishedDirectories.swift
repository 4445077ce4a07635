import FerryCore
import Foundation
import GRDB

/// The directories of a list's unfinished downloads, read while the list is closed, without changing it.
package enum UnfinishedDirectories {
    /// The directories, absolute; `nil` if there is no list, or it is unreadable or incomplete.
    ///
    /// `state` is the directory of the catalogue.
    package static func read(state: String) -> [String]? {
        let path = state + "/" + Catalogue.fileName
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            return try database.read { db in
                guard try CatalogueSchema.isComplete(db), try CatalogueLocation.isStored(db) else { return nil }
                let over = StateKind.allCases.filter(\.isOver).map { "'\($0.rawValue)'" }.joined(separator: ", ")
                // One row of each destination suffices.
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT \(CatalogueColumns.selection) FROM download WHERE state NOT IN (\(over)) GROUP BY place
                        """)
                var directories: Set<String> = []
                // An unreadable row is not listed either.
                while let row = try rows.next() {
                    if let directory = (try? CatalogueColumns.row(row))?.directory { directories.insert(directory) }
                }
                return directories.sorted()
            }
        } catch { return nil }
    }
}
