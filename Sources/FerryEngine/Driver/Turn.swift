import Synchronization

/// One at a time, across suspensions: a checkpoint, moving a small file to the disk, and changing the part file for
/// another must not meet.
package final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Returns when it is the caller's turn; ``give()`` ends it. In the order of asking.
    package func take() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    /// Takes the turn when nobody has it.
    package func tryTake() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    package func give() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
