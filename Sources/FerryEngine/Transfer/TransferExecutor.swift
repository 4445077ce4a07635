#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A few threads of our own for tasks that make blocking calls on files.
///
/// Tasks that prefer it (`withTaskExecutorPreference`, `Task(executorPreference:)`) run their nonisolated code here, so
/// that a `pwrite` which waits for the disk holds up neither Swift's cooperative pool nor an event loop. Jobs run in the
/// order they come. The threads start with the first job and live as long as the process.
// SAFETY: `waiting`, `next` and `isStarted` are only touched while `mutex` is held.
package final class TransferExecutor: TaskExecutor, @unchecked Sendable {
    /// The one that a process needs; two threads.
    package static let shared = TransferExecutor(threadCount: 2)

    private let threadCount: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// A queue: what is before `next` has been taken.
    private var waiting: [UnownedJob] = []
    private var next = 0
    private var isStarted = false

    /// Makes an executor; it is kept for ever once it has been given a job.
    ///
    /// - Parameter threadCount: 1 or more. Default 2.
    package init(threadCount: Int = 2) {
        self.threadCount = max(1, threadCount)
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // Reached only when no thread was ever started: each holds the executor.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        waiting.append(job)
        if !isStarted {
            isStarted = true
            startThreads()
        }
        // While the mutex is held, on purpose: outside it saves changes of thread, but glibc's condition variables have
        // lost wake-ups (its bug 25847), and a job that nobody takes is a download that hangs.
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func startThreads() {
        for _ in 0..<threadCount {
            let context = Unmanaged.passRetained(self)
            let code = TransferThread.start(context.toOpaque())
            // Without a thread the jobs would wait for ever: better an end with a reason than a silent one.
            precondition(code == 0, "a thread for file access cannot be started: error \(code)")
        }
    }

    func run() -> Never {
        while true {
            pthread_mutex_lock(mutex)
            while next == waiting.count { pthread_cond_wait(condition, mutex) }
            let job = waiting[next]
            next += 1
            if next == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                next = 0
            } else if next >= 1024 {
                waiting.removeFirst(next)
                next = 0
            }
            pthread_mutex_unlock(mutex)
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
