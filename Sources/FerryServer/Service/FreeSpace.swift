import FerryCore
import Foundation

/// How much room a disk has.
enum FreeSpace {
    /// Free bytes where a directory is, or will be; `nil` when that cannot be told.
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
