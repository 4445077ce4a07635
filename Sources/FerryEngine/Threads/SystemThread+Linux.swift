#if canImport(Glibc)
    import Glibc

    extension SystemThread {
        /// Starts a detached thread. Returns 0 or the error number.
        package static func start(_ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void)
            -> Int32
        {
            let started = create(name, stackSize: stackSize, body)
            if let thread = started.thread { pthread_detach(thread) }
            return started.code
        }

        /// Starts a small thread that must be joined; `nil` if the system has no more.
        static func joinable(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
            create("ferry-probe", stackSize: 64 << 10, body).thread
        }

        private static func create(
            _ name: String, stackSize: Int?, _ body: @escaping @Sendable () -> Void
        ) -> (thread: pthread_t?, code: Int32) {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
            let thread = Unmanaged.passRetained(SystemThread(name: name, body: body))
            var number = pthread_t()
            let code = pthread_create(&number, &attributes, run, thread.toOpaque())
            if code == 0 { return (number, 0) }
            thread.release()
            return (nil, code)
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
