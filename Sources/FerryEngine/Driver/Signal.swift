import Synchronization

/// A bell that counts: who waits names the last ring it knows of, so that no ring is missed, however many wait.
///
/// ```swift
/// let heard = bell.rings      // before looking at what the ring is about
/// if isReady() { return }
/// await bell.wait(after: heard)
/// ```
package final class Signal: Sendable {
    private struct State {
        var rings: UInt64 = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// How often it rang so far.
    package var rings: UInt64 { state.withLock { $0.rings } }

    /// Lets everybody who waits go on.
    package func ring() {
        let waiting = state.withLock { state in
            state.rings += 1
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once it has rung more than `heard` times, or when the task is cancelled.
    package func wait(after heard: UInt64) async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.rings > heard || Task.isCancelled { return true }
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
