import Dispatch
package import FerryCore
import Synchronization

/// The names of hosts, resolved by the system (`/etc/hosts`, NSS) and remembered as ``NameMemory`` says.
///
/// `getaddrinfo` blocks and cannot be cancelled, so it runs on at most ``mostThreads`` threads of its own: a slow resolver
/// for one name delays no other until all of them wait. Further names queue up in their order. A caller may leave at
/// any time; the look-up goes on, and its answer is kept.
package final class HostNames: Sendable {
    /// The names of this process.
    package static let shared = HostNames()

    static let mostThreads = 16

    private struct State {
        var memory: NameMemory
        var waiting: [String: [UInt64: CheckedContinuation<NameMemory.Answer?, Never>]] = [:]
        var queued: [(name: String, generation: UInt64)] = []
        var threads = 0
        var lastNumber: UInt64 = 0
    }
    private let state: Mutex<State>
    private let resolve: @Sendable (String) -> NameMemory.Answer
    private let now: @Sendable () -> Duration

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
    }

    /// Returns the resolver's answer; `nil` if there is none within `limit`, or when the task is cancelled.
    package func answer(for name: String, within limit: Duration = .seconds(60)) async -> NameMemory.Answer? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (known, starts): (NameMemory.Answer?, Int) = state.withLock { state in
                    if Task.isCancelled { return (nil, -1) }
                    switch state.memory.ask(name, at: now()) {
                    case .known(let answer): return (answer, 0)
                    case .resolve(let generation): state.queued.append((name, generation))
                    case .wait: break
                    }
                    state.waiting[name, default: [:]][number] = continuation
                    guard state.threads < Self.mostThreads, !state.queued.isEmpty else { return (nil, 1) }
                    state.threads += 1
                    return (nil, 2)
                }
                if known != nil || starts < 0 { return continuation.resume(returning: known) }
                if starts == 2 { SystemThread.detach("ferry-lookup", stackSize: 512 << 10) { self.work() } }
                let deadline = DispatchTime.now() + min(limit, .seconds(3600)).seconds
                DispatchQueue.global().asyncAfter(deadline: deadline) { self.leave(name, number) }
            }
        } onCancel: {
            leave(name, number)
        }
    }

    /// Returns the addresses of a name; empty if it has none or the resolver fails.
    package func addresses(of name: String) async -> [IPAddress] {
        if case .addresses(let addresses)? = await answer(for: name) { addresses } else { [] }
    }

    /// Forgets all names: the network has changed.
    package func networkChanged() { state.withLock { $0.memory.networkChanged() } }

    private func leave(_ name: String, _ number: UInt64) {
        let continuation = state.withLock { state in
            defer { if state.waiting[name]?.isEmpty == true { state.waiting[name] = nil } }
            return state.waiting[name]?.removeValue(forKey: number)
        }
        continuation?.resume(returning: nil)
    }

    /// Resolves queued names until there are none.
    private func work() {
        while let next = take() {
            let answer = resolve(next.name)
            let callers = state.withLock { state in
                state.memory.resolved(next.name, answer, in: next.generation, at: now())
                return state.waiting.removeValue(forKey: next.name) ?? [:]
            }
            for continuation in callers.values { continuation.resume(returning: answer) }
        }
    }

    private func take() -> (name: String, generation: UInt64)? {
        state.withLock { state in
            if state.queued.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.queued.removeFirst()
        }
    }
}
