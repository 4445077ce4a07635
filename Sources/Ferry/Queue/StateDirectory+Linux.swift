#if os(Linux)
    import FerryCore
    import Foundation

    extension StateDirectory {
        /// The state directory of the XDG Base Directory Specification.
        static var platformRoot: String { homeDirectory + "/.local/state" }

        /// `$HOME` if it is absolute, otherwise the home directory of the user database.
        package static var homeDirectory: String {
            let given = ProcessInfo.processInfo.environment["HOME"] ?? ""
            return given.utf8.hasPrefix("/") ? given : NSHomeDirectory()
        }
    }
#endif
