import Synchronization

/// A bell: tasks wait, anyone rings, all who wait go on. A ring that nobody waits for is kept for the next who does.
package final class Signal: Sendable {
    private struct State {
        var isRung = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Lets everybody who waits go on.
    package func ring() {
        let waiting = state.withLock { state in
            defer { state.waiting.removeAll() }
            if state.waiting.isEmpty { state.isRung = true }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns at the next ring, at once when one was kept, or when the task is cancelled.
    package func wait() async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
                        return true
                    }
                    state.waiting[id] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
