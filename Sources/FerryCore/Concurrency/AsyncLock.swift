import DequeModule
import Synchronization

/// A lock that may be held across suspension points; waiting tasks acquire it in FIFO order.
///
/// Cancellation does not end the wait: the code after it always holds the lock.
package final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var waiting: Deque<CheckedContinuation<Void, Never>> = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Acquires the lock, suspending until it is free. Must be balanced with ``release()``.
    package func acquire() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                if state.isHeld {
                    state.waiting.append(continuation)
                    return false
                }
                state.isHeld = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    /// Acquires the lock if it is free; returns whether it did.
    package func tryAcquire() -> Bool {
        state.withLock { state in
            defer { state.isHeld = true }
            return !state.isHeld
        }
    }

    package func release() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.isHeld = false }
            return next
        }
        next?.resume()
    }
}
