import FerryCore
import Foundation

/// Where programs are looked for, as a shell does.
enum SearchPath {
    /// The path of a program that can be run: the first of this name in the directories of `PATH`; a name with a slash is a
    /// path already. `nil` when there is none.
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
