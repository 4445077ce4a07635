#if canImport(Darwin)
    import Darwin

    extension ThreadLog {
        /// The name of the calling thread; empty for the main thread.
        package static var current: String {
            var name = [CChar](repeating: 0, count: 64)
            pthread_getname_np(pthread_self(), &name, name.count)
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
#endif
