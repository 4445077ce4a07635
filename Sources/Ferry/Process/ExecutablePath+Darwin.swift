#if canImport(Darwin)
    import Foundation

    package enum ExecutablePath {
        /// The absolute path of this process's program.
        package static var own: String? { Bundle.main.executablePath }
    }
#endif
