#if os(Linux)
    import FerryCore
    import FoundationEssentials

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension StateDirectory {
        /// The state directory of the XDG Base Directory Specification.
        package static func root(home: String) -> String { home + "/.local/state" }

        /// `$HOME` if it is absolute, otherwise the home directory in the user database.
        package static var homeDirectory: String {
            let given = ProcessInfo.processInfo.environment["HOME"] ?? ""
            if given.utf8.hasPrefix("/") { return given }
            return getpwuid(getuid()).flatMap { String(cString: $0.pointee.pw_dir) } ?? "/"
        }
    }
#endif
