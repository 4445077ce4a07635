import FerryCore
import Foundation

/// Program lookup in `PATH`, as in a shell.
enum SearchPath {
    /// Returns the first executable file of this name in the directories of `PATH`; a name with a slash is a path
    /// already. `nil` if there is none.
    static func program(_ name: String, in directories: String) -> String? {
        if name.utf8.contains("/") { return isProgram(name) ? name : nil }
        return directories.split(at: ":").lazy.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
