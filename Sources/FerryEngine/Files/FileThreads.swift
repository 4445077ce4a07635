import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The threads that make blocking file calls. They execute the jobs of tasks that prefer this executor, and the closures
/// passed to ``FileIO/run(_:)``.
///
/// Work starts in FIFO order. ``core`` threads start as they are needed and remain. One thread is woken at a time, and wakes the
/// next one if more work waits when it takes some: few threads then make short calls, and a blocked call delays no others. Work
/// that has waited for ``patience`` shows that all threads are blocked, for example by a disk that does not respond. One more
/// thread then starts, up to ``limit`` in total, and ends when no work waits. If the system refuses a thread, the running
/// threads do the work; if it refuses even the first one, a thread of a dispatch queue takes its place.
// SAFETY: all variables are only accessed while `mutex` is held.
package final class FileThreads: TaskExecutor, @unchecked Sendable {
    /// The threads that all managers of the process share.
    package static let shared = ThreadSupply.isScarce ? FileThreads(core: 2, limit: 4) : FileThreads(core: 6, limit: 64)

    private enum Work {
        case job(UnownedJob)
        case body(() -> Void)
    }

    /// The time that work waits before another thread is started for it.
    private static let patience: Duration = .milliseconds(100)

    private let core: Int
    private let limit: Int
    private let starter: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The queue; the work before `next` has been taken.
    private var queue: [Work] = []
    private var next = 0
    /// The total amount of work taken so far.
    private var taken = 0
    private var threads = 0
    private var idle = 0
    /// Whether a thread was started or woken that has not looked for work yet.
    private var isWaking = false
    /// Whether a reserve thread watches the queue.
    private var hasReserve = false
    /// Whether the next thread to start is the reserve.
    private var startsReserve = false

    private var waiting: Int { queue.count - next }

    /// Creates an executor, which is never released once it has received work.
    ///
    /// - Parameters:
    ///   - core: The number of threads that remain, 1 or more.
    ///   - limit: The maximum number of threads.
    ///   - starter: Starts a thread with this body; returns `false` if the system refuses.
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

    /// Wakes or starts a thread for waiting work; called while the mutex is held.
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
                // The running threads take the work when they have finished theirs.
                threads -= 1
                isWaking = false
            } else {
                DispatchQueue.global().async(execute: body)
            }
        } else {
            startReserve()
        }
    }

    /// Starts the reserve thread, which takes work if the newest work still waits after ``patience``.
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

    /// Watches the queue. Returns `true` if work has waited for ``patience``, `false` if no work waits.
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
