#if canImport(Darwin)
    package import FerryCore

    extension UserNamespace {
        /// The overflow ID; `nil`, because every user has an ID.
        package static let unmapped: UInt32? = nil
    }
#endif
