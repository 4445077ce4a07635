#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The number of threads that the system lets this process start under its limits for users (`ulimit -u`) and for containers.
///
/// Event loops and queues of the system's libraries trap or wait forever if a thread is refused. Therefore a program checks
/// before it starts any, and uses few threads if few are available.
package enum ThreadSupply {
    /// The number of threads that a single download needs: those of ``FileThreads``, an event loop, and those of dispatch
    /// queues.
    package static let leastForDownload = 10
    /// The number of threads that a service needs, with its own connections and name lookups.
    package static let leastForService = 32

    /// The number of threads that a download uses if it can.
    private static let plenty = 16

    /// The number of threads that can be started, determined at the first use, up to the number that a download uses.
    package static let found = probe(upTo: plenty)

    /// Whether there are too few for the usual number of event loops and file threads.
    package static var isScarce: Bool { found < plenty }

    /// Starts this many threads at once, ends them, and returns how many could be started.
    package static func probe(upTo most: Int) -> Int {
        let gate = Gate()
        pthread_mutex_lock(gate.mutex)
        var threads: [pthread_t] = []
        while threads.count < most, let thread = SystemThread.joinable({ gate.pass() }) { threads.append(thread) }
        pthread_mutex_unlock(gate.mutex)
        for thread in threads { pthread_join(thread, nil) }
        // The kernel counts a thread for a moment after it was joined, which matters if the limit has been reached.
        if threads.count < most { usleep(20_000) }
        return threads.count
    }

    // SAFETY: the pointer is constant, and the mutex is made for several threads.
    private final class Gate: @unchecked Sendable {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        func pass() {
            pthread_mutex_lock(mutex)
            pthread_mutex_unlock(mutex)
        }
    }
}
