#if canImport(Glibc)
    import Glibc

    /// A thread of ``FileThreads``.
    enum FileThread {
        /// Starts a thread; `context` is a retained executor. Returns 0 or the error number.
        static func start(_ context: UnsafeMutableRawPointer) -> Int32 {
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, run, context)
            if code == 0 { pthread_detach(thread) }
            return code
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            name()
            context.map { Unmanaged<FileThreads>.fromOpaque($0).takeRetainedValue() }?.run()
            return nil
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
