#if canImport(Darwin)
    import Foundation

    extension StatePlace {
        /// The app's own Application Support; inside its container when it has one.
        static var platformRoot: String {
            let found = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            return found?.path ?? NSHomeDirectory() + "/Library/Application Support"
        }
    }
#endif
