#if canImport(Darwin)
    import Darwin

    extension SystemThread {
        /// Starts a detached thread. Returns 0 or the error number.
        package static func start(_ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void)
            -> Int32
        {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
            let thread = Unmanaged.passRetained(SystemThread(name: name, body: body))
            var number: pthread_t?
            let code = pthread_create(&number, &attributes, run, thread.toOpaque())
            if code == 0, let number { pthread_detach(number) } else { thread.release() }
            return code
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            let thread = Unmanaged<SystemThread>.fromOpaque(context).takeRetainedValue()
            pthread_setname_np(thread.name)
            thread.body()
            return nil
        }
    }
#endif
