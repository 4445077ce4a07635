#if os(Linux)
    import FerryCore
    import Foundation

    extension StateDirectory {
        /// Where state is kept, by the XDG Base Directory Specification.
        static var platformRoot: String { homeDirectory + "/.local/state" }

        /// `$HOME`, else what the system knows of the user.
        package static var homeDirectory: String {
            let given = ProcessInfo.processInfo.environment["HOME"] ?? ""
            return given.utf8.hasPrefix("/") ? given : NSHomeDirectory()
        }
    }
#endif
