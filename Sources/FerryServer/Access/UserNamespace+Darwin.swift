#if canImport(Darwin)
    package import FerryCore

    extension UserNamespace {
        /// The number that the system reports for every user without one here: every user has one.
        package static let unmapped: UInt32? = nil
    }
#endif
