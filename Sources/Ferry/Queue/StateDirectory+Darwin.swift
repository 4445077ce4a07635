#if canImport(Darwin)
    import Foundation

    extension StateDirectory {
        /// The Application Support directory of a user or an app: of lists, and of the daemon too.
        package static func root(home: String) -> String { home + "/Library/Application Support" }

        /// The user's home directory, or that of the app's container.
        package static var homeDirectory: String { NSHomeDirectory() }
    }
#endif
