#if canImport(Glibc)
    import Glibc

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
            var number = pthread_t()
            let code = pthread_create(&number, &attributes, run, thread.toOpaque())
            if code == 0 { pthread_detach(number) } else { thread.release() }
            return code
        }

        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            guard let thread = context.map({ Unmanaged<SystemThread>.fromOpaque($0).takeRetainedValue() }) else {
                return nil
            }
            show(thread.name)
            thread.body()
            return nil
        }

        /// Names the calling thread, through procfs because the Glibc module lacks `pthread_setname_np`.
        private static func show(_ name: String) {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, name, name.utf8.count)
            close(file)
        }
    }
#endif
