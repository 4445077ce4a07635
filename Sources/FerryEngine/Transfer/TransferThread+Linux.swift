#if canImport(Glibc)
    import Glibc

    /// A thread of a ``TransferExecutor``.
    enum TransferThread {
        /// Starts one; `context` is a retained executor. The error number, or 0.
        static func start(_ context: UnsafeMutableRawPointer) -> Int32 {
            var thread = pthread_t()
            return pthread_create(&thread, nil, run, context)
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            guard let context else { return nil }
            name()
            Unmanaged<TransferExecutor>.fromOpaque(context).takeRetainedValue().run()
        }

        /// Gives the thread its name in `top` and `perf`; Glibc's module hides the function for it, the kernel has a file.
        private static func name() {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, "ferry-io", 8)
            close(file)
        }
    }
#endif
