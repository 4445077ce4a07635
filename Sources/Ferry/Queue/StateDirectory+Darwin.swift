#if canImport(Darwin)
    import Foundation

    extension StateDirectory {
        /// The app's Application Support directory; inside its container if it has one.
        static var platformRoot: String {
            let found = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            return found?.path ?? homeDirectory + "/Library/Application Support"
        }

        /// The user's home directory, or that of the app's container.
        package static var homeDirectory: String { NSHomeDirectory() }
    }
#endif
