import Synchronization

/// A lock that may be held across suspensions; waiting tasks acquire it in the order in which they asked.
///
/// Cancellation does not end the wait: the code after it always runs with the lock.
package final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Waits for the lock; ``release()`` gives it to the next waiting task.
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

    /// Acquires the lock if it is free; `false` otherwise.
    package func tryAcquire() -> Bool {
        state.withLock { state in
            defer { state.isHeld = true }
            return !state.isHeld
        }
    }

    package func release() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isHeld = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
