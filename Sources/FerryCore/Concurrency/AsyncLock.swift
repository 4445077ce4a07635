import DequeModule
import Synchronization

/// A lock that may be held across suspension points, by one task or, in shared mode, by several. Waiting tasks acquire
/// it in FIFO order.
///
/// A request for shared use queues behind all waiting tasks, so it never overtakes a request for exclusive use.
/// Cancellation does not end the wait: the code after it always holds the lock.
package final class AsyncLock: Sendable {
    private enum Mode { case exclusive, shared }

    private enum Holders {
        case none
        case exclusive
        /// The number of tasks, at least 1.
        case shared(Int)

        /// Adds a holder if the mode permits it; returns whether it was added.
        mutating func admit(_ mode: Mode) -> Bool {
            switch (self, mode) {
            case (.none, .exclusive): self = .exclusive
            case (.none, .shared): self = .shared(1)
            case (.shared(let count), .shared): self = .shared(count + 1)
            case (.exclusive, _), (.shared, .exclusive): return false
            }
            return true
        }

        mutating func leave() {
            switch self {
            case .none: preconditionFailure("a lock that is not held was released")
            case .shared(let count) where count > 1: self = .shared(count - 1)
            case .exclusive, .shared: self = .none
            }
        }
    }

    private struct State {
        var holders = Holders.none
        var waiting: Deque<(mode: Mode, continuation: CheckedContinuation<Void, Never>)> = []

        /// Adds a holder if nobody waits and the mode permits it; returns whether it was added.
        mutating func admit(_ mode: Mode) -> Bool { waiting.isEmpty && holders.admit(mode) }
    }
    private let state = Mutex(State())

    package init() {}

    /// Acquires the lock for exclusive use, suspending until it is free. Must be balanced with ``release()``.
    package func acquire() async { await acquire(.exclusive) }

    /// Acquires the lock for shared use. Must be balanced with ``release()``.
    package func acquireShared() async { await acquire(.shared) }

    private func acquire(_ mode: Mode) async {
        if state.withLock({ $0.admit(mode) }) { return }
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                if state.admit(mode) { return true }
                state.waiting.append((mode, continuation))
                return false
            }
            if isMine { continuation.resume() }
        }
    }

    /// Acquires the lock for exclusive use if it is free; returns whether it did.
    package func tryAcquire() -> Bool { state.withLock { $0.holders.admit(.exclusive) } }

    /// Releases one use, in either mode.
    package func release() {
        let next = state.withLock { state in
            state.holders.leave()
            var next: [CheckedContinuation<Void, Never>] = []
            while let first = state.waiting.first, state.holders.admit(first.mode) {
                next.append(first.continuation)
                state.waiting.removeFirst()
            }
            return next
        }
        for continuation in next { continuation.resume() }
    }
}
