#if canImport(Darwin)
    import Darwin

    /// A thread of ``FileThreads``.
    enum FileThread {
        /// Starts a thread; `context` is a retained executor. Returns 0 or the error number.
        static func start(_ context: UnsafeMutableRawPointer) -> Int32 {
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, run, context)
            if code == 0, let thread { pthread_detach(thread) }
            return code
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            pthread_setname_np("ferry-io")
            Unmanaged<FileThreads>.fromOpaque(context).takeRetainedValue().run()
            return nil
        }
    }
#endif
