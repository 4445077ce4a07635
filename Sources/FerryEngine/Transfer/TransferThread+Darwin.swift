#if canImport(Darwin)
    import Darwin

    /// A thread of a ``TransferExecutor``.
    enum TransferThread {
        /// Starts a thread; `context` is a retained executor. Returns 0 or the error number.
        static func start(_ context: UnsafeMutableRawPointer) -> Int32 {
            var thread: pthread_t?
            return pthread_create(&thread, nil, run, context)
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            pthread_setname_np("ferry-io")
            Unmanaged<TransferExecutor>.fromOpaque(context).takeRetainedValue().run()
        }
    }
#endif
