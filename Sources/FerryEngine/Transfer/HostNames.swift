import DequeModule
import Dispatch
package import FerryCore
import Synchronization

/// Resolves host names through the system (`/etc/hosts`, NSS) and caches the answers as ``NameMemory`` describes.
///
/// `getaddrinfo` blocks and cannot be cancelled, so it runs on at most ``mostThreads`` threads of its own: a slow lookup of one
/// name delays no other name until all threads are waiting. Further names are queued in order. A caller may stop waiting at any
/// time; the lookup continues, and its answer is cached.
package final class HostNames: Sendable {
    /// The resolver that the process shares.
    package static let shared = HostNames()

    static let mostThreads = 16

    private struct Caller {
        let continuation: CheckedContinuation<NameMemory.Answer?, Never>
        /// In nanoseconds of `DispatchTime`.
        let deadline: UInt64
    }

    private struct State {
        var memory: NameMemory
        var waiting: [String: [UInt64: Caller]] = [:]
        var queued: Deque<(name: String, generation: UInt64)> = []
        /// The time when the timer fires next, in nanoseconds of `DispatchTime`; the maximum without a caller.
        var firesAt = UInt64.max
        var threads = 0
        var lastNumber: UInt64 = 0
    }
    private let state: Mutex<State>
    private let resolve: @Sendable (String) -> NameMemory.Answer
    private let now: @Sendable () -> Duration
    // SAFETY: set once in init; dispatch sources are thread-safe.
    /// One timer for all callers, because a timer for each lookup would remain until its deadline, long after the answer.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    private static let start = ContinuousClock.now

    /// - Parameters:
    ///   - now: Monotonic time since a fixed start. Default: the system's.
    ///   - resolve: Resolves a name; blocks. Default: the system's resolver.
    package init(
        capacity: Int = 4096, now: (@Sendable () -> Duration)? = nil,
        resolve: @escaping @Sendable (String) -> NameMemory.Answer = { HostLookup.lookUp($0) }
    ) {
        state = Mutex(State(memory: NameMemory(capacity: capacity)))
        self.resolve = resolve
        self.now = now ?? { ContinuousClock.now - Self.start }
        timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { [weak self] in self?.leaveLate() }
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Returns the resolver's answer; `nil` if there is none within `limit`, or when the task is cancelled.
    package func answer(for name: String, within limit: Duration = .seconds(60)) async -> NameMemory.Answer? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let deadline = DispatchTime.now() + min(limit, .seconds(3600)).seconds
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (known, starts): (NameMemory.Answer?, Int) = state.withLock { state in
                    if Task.isCancelled { return (nil, -1) }
                    switch state.memory.ask(name, at: now()) {
                    case .known(let answer): return (answer, 0)
                    case .resolve(let generation): state.queued.append((name, generation))
                    case .wait: break
                    }
                    state.waiting[name, default: [:]][number] = Caller(
                        continuation: continuation, deadline: deadline.uptimeNanoseconds)
                    fire(at: deadline.uptimeNanoseconds, &state)
                    guard state.threads < Self.mostThreads, !state.queued.isEmpty else { return (nil, 1) }
                    state.threads += 1
                    return (nil, 2)
                }
                if known != nil || starts < 0 { return continuation.resume(returning: known) }
                if starts == 2 { SystemThread.detach("ferry-lookup", stackSize: 512 << 10) { self.work() } }
            }
        } onCancel: {
            leave(name, number)
        }
    }

    /// Returns the addresses of a name; empty if it has none or the resolver fails.
    package func addresses(of name: String) async -> [IPAddress] {
        if case .addresses(let addresses)? = await answer(for: name) { addresses } else { [] }
    }

    /// Forgets all names, because the network has changed.
    package func networkChanged() { state.withLock { $0.memory.networkChanged() } }

    /// Sets the timer to fire at this time, unless it fires earlier.
    private func fire(at time: UInt64, _ state: inout State) {
        guard time < state.firesAt else { return }
        state.firesAt = time
        timer.schedule(deadline: DispatchTime(uptimeNanoseconds: time))
    }

    /// Resumes the callers whose time is over, without an answer.
    private func leaveLate() {
        let late = state.withLock { state in
            let time = DispatchTime.now().uptimeNanoseconds
            var late: [Caller] = []
            var earliest = UInt64.max
            for (name, callers) in state.waiting {
                for (number, caller) in callers {
                    if caller.deadline <= time {
                        late.append(caller)
                        state.waiting[name]?[number] = nil
                    } else {
                        earliest = min(earliest, caller.deadline)
                    }
                }
                if state.waiting[name]?.isEmpty == true { state.waiting[name] = nil }
            }
            state.firesAt = .max
            fire(at: earliest, &state)
            return late
        }
        for caller in late { caller.continuation.resume(returning: nil) }
    }

    private func leave(_ name: String, _ number: UInt64) {
        let caller = state.withLock { state in
            defer { if state.waiting[name]?.isEmpty == true { state.waiting[name] = nil } }
            return state.waiting[name]?.removeValue(forKey: number)
        }
        caller?.continuation.resume(returning: nil)
    }

    /// Resolves queued names until there are none.
    private func work() {
        while let next = take() {
            let answer = resolve(next.name)
            let callers = state.withLock { state in
                state.memory.resolved(next.name, answer, in: next.generation, at: now())
                return state.waiting.removeValue(forKey: next.name) ?? [:]
            }
            for caller in callers.values { caller.continuation.resume(returning: answer) }
        }
    }

    private func take() -> (name: String, generation: UInt64)? {
        state.withLock { state in
            let next = state.queued.popFirst()
            if next == nil { state.threads -= 1 }
            return next
        }
    }
}
