import FerryCore
import Foundation
import GRDB

/// Where the unfinished downloads of a list go, read while the list is closed: nothing of it is changed.
package enum UnfinishedDirectories {
    /// The directories, absolute; `nil` where there is no list, or it cannot be read or was not filled yet.
    ///
    /// - Parameters:
    ///   - state: The directory of the catalogue.
    ///   - downloads: Where its downloads go by default.
    package static func read(state: String, downloads: String) -> [String]? {
        let path = state + "/" + Catalogue.fileName
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            return try database.read { db in
                guard try CatalogueSchema.isComplete(db) else { return nil }
                let columns = CatalogueColumns(root: PathRoot(downloads))
                let over = StateKind.allCases.filter(\.isOver).map { "'\($0.rawValue)'" }.joined(separator: ", ")
                // One of each place is enough.
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT \(CatalogueColumns.selection) FROM download WHERE state NOT IN (\(over)) GROUP BY place
                        """)
                var directories: Set<String> = []
                // A row that cannot be read is not listed either.
                while let row = try rows.next() {
                    if let directory = (try? columns.row(row))?.directory { directories.insert(directory) }
                }
                return directories.sorted()
            }
        } catch { return nil }
    }
}
