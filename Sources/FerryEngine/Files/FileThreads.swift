import Dispatch
import Synchronization

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
package final class FileThreads: TaskExecutor {
    /// The threads that all managers of the process share.
    package static let shared = ThreadSupply.isScarce ? FileThreads(core: 2, limit: 4) : FileThreads(core: 6, limit: 64)

    private enum Work: Sendable {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        /// The queue; the work before `next` has been taken.
        var queue: [Work] = []
        var next = 0
        /// The total amount of work taken so far.
        var taken = 0
        var threads = 0
        /// What the threads without work wait for. The one that has waited longest is woken first: waking the latest was measured
        /// to be slower.
        var idle: [DispatchSemaphore] = []
        /// Whether a thread was started or woken that has not looked for work yet.
        var isWaking = false
        /// Whether a reserve thread watches the queue.
        var hasReserve = false
        /// Whether the next thread to start is the reserve.
        var startsReserve = false

        var waiting: Int { queue.count - next }

        mutating func take() -> Work {
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
            return work
        }
    }

    /// What a thread does next.
    private enum Step {
        /// Executes the work after it has woken the other thread.
        case execute(Work, waking: DispatchSemaphore?)
        case sleep
        case end
    }

    /// The time that work waits before another thread is started for it.
    private static let patience: Duration = .milliseconds(100)

    private let core: Int
    private let limit: Int
    private let starter: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let state = Mutex(State())

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
    }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `body` on one of the threads, even if the calling task is cancelled.
    func run(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

    private func add(_ work: Work) {
        let idle = state.withLock { state in
            state.queue.append(work)
            return wake(&state)
        }
        idle?.signal()
    }

    /// Starts a thread for waiting work, or returns an idle one. The caller wakes it after it has released the lock, for which
    /// the thread would wait at once.
    private func wake(_ state: inout State) -> DispatchSemaphore? {
        guard !state.isWaking, state.waiting > 0 else { return nil }
        if let idle = state.idle.first {
            state.idle.removeFirst()
            state.isWaking = true
            return idle
        }
        if state.threads < core {
            state.isWaking = true
            state.threads += 1
            if starter(body) { return nil }
            if state.threads > 1 {
                // The running threads take the work when they have finished theirs.
                state.threads -= 1
                state.isWaking = false
            } else {
                DispatchQueue.global().async(execute: body)
            }
        } else {
            startReserve(&state)
        }
        return nil
    }

    /// Starts the reserve thread, which takes work if the newest work still waits after ``patience``.
    private func startReserve(_ state: inout State) {
        guard !state.hasReserve, state.threads < limit else { return }
        (state.hasReserve, state.startsReserve) = (true, true)
        if !starter(body) { (state.hasReserve, state.startsReserve) = (false, false) }
    }

    private var body: @Sendable () -> Void { { self.run() } }

    /// The body of a thread.
    private func run() {
        let isReserve = state.withLock { state in
            defer { state.startsReserve = false }
            return state.startsReserve
        }
        if !isReserve || isNeeded() { work() }
    }

    /// Watches the queue. Returns `true` if work has waited for ``patience``, `false` if no work waits.
    private func isNeeded() -> Bool {
        while true {
            let newest = state.withLock { $0.taken + $0.waiting }
            usleep(UInt32(Self.patience / .microseconds(1)))
            let isNeeded: Bool? = state.withLock { state in
                if state.taken < newest {
                    state.hasReserve = false
                    state.threads += 1
                    if state.waiting > 1 { startReserve(&state) }
                    return true
                }
                if state.waiting > 0 { return nil }
                state.hasReserve = false
                return false
            }
            if let isNeeded { return isNeeded }
        }
    }

    /// Executes waiting work; returns when none is left and more than ``core`` threads run.
    private func work() {
        let wakeUp = DispatchSemaphore(value: 0)
        var isNew = true
        while true {
            switch step(wakeUp, isNew) {
            case .execute(let work, let idle):
                isNew = false
                idle?.signal()
                SystemThread.pooled {
                    switch work {
                    case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                    case .body(let body): body()
                    }
                }
            case .sleep:
                wakeUp.wait()
                isNew = true
            case .end: return
            }
        }
    }

    /// Decides what a thread does next.
    ///
    /// - Parameters:
    ///   - wakeUp: What the thread waits for if it sleeps.
    ///   - isNew: Whether the thread has been started or woken since its last step.
    private func step(_ wakeUp: DispatchSemaphore, _ isNew: Bool) -> Step {
        state.withLock { state in
            if isNew { state.isWaking = false }
            if state.waiting > 0 { return .execute(state.take(), waking: wake(&state)) }
            if state.threads > core {
                state.threads -= 1
                return .end
            }
            state.idle.append(wakeUp)
            return .sleep
        }
    }
}
