import Synchronization

/// A counted notification. A waiting task passes the last count that it has seen, so that it does not miss a
/// notification.
///
/// ```swift
/// let seen = updates.count      // before the state is read
/// if isReady() { return }
/// await updates.wait(after: seen)
/// ```
package final class AsyncEvent: Sendable {
    private struct State {
        var count: UInt64 = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// The number of notifications so far.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Resumes all waiting tasks.
    package func notify() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when ``count`` exceeds `seen` or the task is cancelled.
    package func wait(after seen: UInt64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if state.count > seen || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
