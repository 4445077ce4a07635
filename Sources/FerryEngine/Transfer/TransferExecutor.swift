#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A few threads for tasks that make blocking file calls.
///
/// The nonisolated code of a task that prefers this executor (`withTaskExecutorPreference`,
/// `Task(executorPreference:)`) runs here, so that a slow `pwrite` blocks neither Swift's cooperative pool nor an
/// event loop. Jobs run in FIFO order. The threads start with the first job and live as long as the process.
// SAFETY: `waiting`, `next` and `isStarted` are only accessed while `mutex` is held.
package final class TransferExecutor: TaskExecutor, @unchecked Sendable {
    /// The executor of the process; two threads.
    package static let shared = TransferExecutor(threadCount: 2)

    private let threadCount: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The queue; jobs before `next` have been taken.
    private var waiting: [UnownedJob] = []
    private var next = 0
    private var isStarted = false

    /// Creates an executor, which is never released once it has received a job.
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
        // Reached only if no thread was started, because each thread retains the executor.
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
        // Signal while the mutex is held: signalling outside would save thread switches, but glibc's condition
        // variables have lost wake-ups (bug 25847), and a lost job is a download that hangs.
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func startThreads() {
        for _ in 0..<threadCount {
            let context = Unmanaged.passRetained(self)
            let code = TransferThread.start(context.toOpaque())
            // Without a thread the jobs would wait forever, so fail with a reason.
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
