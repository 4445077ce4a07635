#if canImport(Darwin)
    /// A stub: Landlock exists only on Linux.
    package enum Landlock {
        struct Failure: Error {
            var path: String
            var code: Int32
        }

        package static var version: Int { 0 }

        static func restrict(to directories: [String], _ rights: LandlockRights) throws(Failure) {
            throw Failure(path: "", code: 0)
        }

        static var isInForce: Bool { false }

        static func makeMemory() -> Int32 { -1 }
    }
#endif
