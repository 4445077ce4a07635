#if canImport(Darwin)
    import Darwin

    extension ProcessArguments {
        static var list: (count: Int, memory: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)? {
            (Int(_NSGetArgc().pointee), _NSGetArgv().pointee)
        }
    }
#endif
