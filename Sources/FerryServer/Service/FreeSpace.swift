import FerryCore
import Foundation

/// The free space of a file system.
enum FreeSpace {
    /// Returns the free bytes at a path, or at its nearest existing ancestor; `nil` if they cannot be determined.
    static func bytes(at path: String) -> Int64? {
        var path = path
        while true {
            if let found = try? FileManager.default.attributesOfFileSystem(forPath: path) {
                return (found[.systemFreeSize] as? NSNumber)?.int64Value
            }
            let parent = Paths.parent(of: path)
            if parent == path { return nil }
            path = parent
        }
    }
}
