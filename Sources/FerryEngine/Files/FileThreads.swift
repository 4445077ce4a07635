import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The threads that make blocking file calls: jobs of tasks that prefer this executor, and bodies of
/// ``FileIO/run(_:)``.
///
/// Work starts in FIFO order. ``core`` threads start as they are needed and stay. One thread is woken at a time, and wakes
/// the next one when it takes work and more waits: short calls are then made by few threads, and a blocked call delays
/// none. Work that has waited for ``patience`` shows that all threads are blocked, by a disk that does not respond for
/// example: one more thread starts, up to ``limit`` in all, and ends when nothing waits. If the system refuses a thread, the
/// work is left to those that run; the first one is then a thread of a dispatch queue.
// SAFETY: all variables are only accessed while `mutex` is held.
package final class FileThreads: TaskExecutor, @unchecked Sendable {
    /// The threads of the process.
    package static let shared = ThreadSupply.isScarce ? FileThreads(core: 2, limit: 4) : FileThreads(core: 6, limit: 64)

    private enum Work {
        case job(UnownedJob)
        case body(() -> Void)
    }

    /// How long work waits before another thread is started for it.
    private static let patience: Duration = .milliseconds(100)

    private let core: Int
    private let limit: Int
    private let starter: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The queue; work before `next` has been taken.
    private var queue: [Work] = []
    private var next = 0
    /// The number of all work taken so far.
    private var taken = 0
    private var threads = 0
    private var idle = 0
    /// Whether a thread has been started or woken that has not looked for work yet.
    private var isWaking = false
    /// Whether a reserve thread watches the queue.
    private var hasReserve = false
    /// Whether the next thread that comes up is the reserve.
    private var startsReserve = false

    private var waiting: Int { queue.count - next }

    /// Creates an executor, which is never released once it has received work.
    ///
    /// - Parameters:
    ///   - core: The number of threads that stay, 1 or more.
    ///   - limit: The maximum number of threads.
    ///   - starter: Starts a thread with this body; `false` if the system has no more.
    package init(
        core: Int, limit: Int,
        starter: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
            SystemThread.start("ferry-io", $0) == 0
        }
    ) {
        self.starter = starter
        self.core = max(1, core)
        self.limit = max(self.core, limit)
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

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `body` on one of the threads, even if the calling task is cancelled.
    func run(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

    private func add(_ work: Work) {
        pthread_mutex_lock(mutex)
        queue.append(work)
        wake()
        pthread_mutex_unlock(mutex)
    }

    /// Wakes or starts a thread for the work that waits; called while the mutex is held.
    private func wake() {
        guard !isWaking, waiting > 0 else { return }
        if idle > 0 {
            isWaking = true
            // Signal while the mutex is held: signalling outside would save thread switches, but glibc's condition
            // variables have lost wake-ups (bug 25847), and a lost job is a download that hangs.
            pthread_cond_signal(condition)
        } else if threads < core {
            isWaking = true
            threads += 1
            if starter(body) { return }
            if threads > 1 {
                // Those that run take the work when theirs has ended.
                threads -= 1
                isWaking = false
            } else {
                DispatchQueue.global().async(execute: body)
            }
        } else {
            startReserve()
        }
    }

    /// Starts the reserve thread, which begins to work if the newest work still waits after ``patience``.
    private func startReserve() {
        guard !hasReserve, threads < limit else { return }
        (hasReserve, startsReserve) = (true, true)
        if !starter(body) { (hasReserve, startsReserve) = (false, false) }
    }

    private var body: @Sendable () -> Void { { self.run() } }

    /// The body of a thread.
    private func run() {
        pthread_mutex_lock(mutex)
        let isReserve = startsReserve
        startsReserve = false
        pthread_mutex_unlock(mutex)
        if !isReserve || isNeeded() { work() }
    }

    /// Watches the queue. Returns `true` when work has waited for ``patience``, `false` when nothing waits.
    private func isNeeded() -> Bool {
        while true {
            pthread_mutex_lock(mutex)
            let newest = taken + waiting
            pthread_mutex_unlock(mutex)
            usleep(UInt32(Self.patience / .microseconds(1)))
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            if taken < newest {
                hasReserve = false
                threads += 1
                if waiting > 1 { startReserve() }
                return true
            }
            if waiting == 0 {
                hasReserve = false
                return false
            }
        }
    }

    /// Executes waiting work; returns when none is left and more than ``core`` threads run.
    private func work() {
        pthread_mutex_lock(mutex)
        isWaking = false
        while true {
            while waiting == 0 {
                if threads > core {
                    threads -= 1
                    return _ = pthread_mutex_unlock(mutex)
                }
                idle += 1
                pthread_cond_wait(condition, mutex)
                idle -= 1
                isWaking = false
            }
            let work = queue[next]
            next += 1
            taken += 1
            if next == queue.count {
                queue.removeAll(keepingCapacity: true)
                next = 0
            } else if next >= 1024 {
                queue.removeFirst(next)
                next = 0
            }
            wake()
            pthread_mutex_unlock(mutex)
            SystemThread.pooled {
                switch work {
                case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                case .body(let body): body()
                }
            }
            pthread_mutex_lock(mutex)
        }
    }
}
