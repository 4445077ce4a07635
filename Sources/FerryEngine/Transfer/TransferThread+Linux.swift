#if canImport(Glibc)
    import Glibc

    /// A thread of a ``TransferExecutor``.
    enum TransferThread {
        /// Starts a thread; `context` is a retained executor. Returns 0 or the error number.
        static func start(_ context: UnsafeMutableRawPointer) -> Int32 {
            var thread = pthread_t()
            return pthread_create(&thread, nil, run, context)
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            guard let context else { return nil }
            name()
            Unmanaged<TransferExecutor>.fromOpaque(context).takeRetainedValue().run()
        }

        /// Names the thread for `top` and `perf`, through procfs because the Glibc module lacks `pthread_setname_np`.
        private static func name() {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, "ferry-io", 8)
            close(file)
        }
    }
#endif
