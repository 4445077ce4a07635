#if canImport(Darwin)
    import Darwin

    extension ProcessArguments {
        static var list: (count: Int, memory: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)? {
            guard let memory = _NSGetArgv().pointee else { return nil }
            return (Int(_NSGetArgc().pointee), memory)
        }
    }
#endif
