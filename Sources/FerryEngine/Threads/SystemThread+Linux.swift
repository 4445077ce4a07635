#if canImport(Glibc)
    import Glibc

    extension SystemThread {
        /// The value of a thread variable before the thread is created.
        static var unknown: pthread_t { 0 }

        /// The start routine of a thread; `context` is the retained ``SystemThread``.
        static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            guard let thread = context.map({ Unmanaged<SystemThread>.fromOpaque($0).takeRetainedValue() }) else {
                return nil
            }
            show(thread.name)
            thread.body()
            return nil
        }

        /// Only calls the body, because Linux has no autoreleased objects.
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
