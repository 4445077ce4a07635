#if canImport(Glibc)
    import Glibc

    extension ThreadLog {
        /// The name of the calling thread; the process's name for its main thread.
        package static var current: String {
            var name = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let count = max(0, read(file, &name, name.count) - 1)
            return String(decoding: name[..<count], as: UTF8.self)
        }
    }
#endif
