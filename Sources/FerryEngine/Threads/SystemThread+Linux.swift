#if canImport(Glibc)
    import Glibc

    extension SystemThread {
        /// The number of a thread before it has one.
        static var unknown: pthread_t { 0 }

        /// What a thread begins with; `context` is the retained ``SystemThread``.
        static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            guard let thread = context.map({ Unmanaged<SystemThread>.fromOpaque($0).takeRetainedValue() }) else {
                return nil
            }
            show(thread.name)
            thread.body()
            return nil
        }

        /// Calls the body: no objects are left to threads here.
        static func pooled(_ body: () -> Void) { body() }

        /// Names the calling thread, through procfs because the Glibc module lacks `pthread_setname_np`.
        private static func show(_ name: String) {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, name, name.utf8.count)
            close(file)
        }
    }
#endif
