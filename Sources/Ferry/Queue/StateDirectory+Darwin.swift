#if canImport(Darwin)
    import Foundation

    extension StateDirectory {
        /// The Application Support directory of a user or an app, used for lists and for the daemon.
        package static func root(home: String) -> String { home + "/Library/Application Support" }

        /// The user's home directory, or the home directory of the app's container.
        package static var homeDirectory: String { NSHomeDirectory() }
    }
#endif
