import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A thread for blocking work; see ``start(_:stackSize:_:)``.
package final class SystemThread: Sendable {
    /// The name that `top` and `perf` show, at most 15 bytes.
    let name: String
    let body: @Sendable () -> Void

    /// The usual stack size of a thread in bytes, of which only used pages occupy memory. The defaults of the systems differ:
    /// 512 KiB on Darwin, 8 MiB on Linux.
    package static let usualStackBytes = 2 << 20

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    /// Starts a detached thread. Returns 0 or the error number.
    ///
    /// - Parameter stackSize: The size of the stack in bytes.
    package static func start(
        _ name: String, stackSize: Int = SystemThread.usualStackBytes, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let started = create(name, stackSize: stackSize, body)
        if let thread = started.thread { pthread_detach(thread) }
        return started.code
    }

    /// Starts a small thread that must be joined; `nil` if the system refuses.
    static func joinable(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        create("ferry-probe", stackSize: 64 << 10, body).thread
    }

    private static func create(
        _ name: String, stackSize: Int, _ body: @escaping @Sendable () -> Void
    ) -> (thread: pthread_t?, code: Int32) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        let thread = Unmanaged.passRetained(SystemThread(name: name, body: body))
        var number = unknown
        let code = pthread_create(&number, &attributes, run, thread.toOpaque())
        if code == 0 { return (number, 0) }
        thread.release()
        return (nil, code)
    }

    /// Runs `body` on its own thread, or on a queue if the system refuses more threads.
    ///
    /// - Parameter stackSize: The size of the stack in bytes.
    package static func detach(_ name: String, stackSize: Int, _ body: @escaping @Sendable () -> Void) {
        if start(name, stackSize: stackSize, body) != 0 { DispatchQueue.global().async(execute: body) }
    }
}
