import Ferry
import Synchronization

/// The numbered events that the app has read from its manager's sequence and printed.
///
/// An acknowledged event is not delivered to a listener that has not read it yet. The delegate therefore waits here
/// before its method returns, so that both listeners of one process print each event.
final class AppEvents: Sendable {
    private struct State {
        var printed: Set<DownloadID> = []
        var waiting: [DownloadID: [CheckedContinuation<Void, Never>]] = [:]
        /// Whether the sequence has ended, so that nothing more is printed.
        var hasEnded = false
    }
    private let state = Mutex(State())

    func hasPrinted(_ id: DownloadID) {
        let waiting = state.withLock { state in
            state.printed.insert(id)
            return state.waiting.removeValue(forKey: id) ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Records the end of the sequence, which ends with its manager.
    func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values.flatMap { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once the event that ended this download has been printed, or can no longer be printed.
    func printed(_ id: DownloadID) async {
        await withCheckedContinuation { continuation in
            let isPrinted = state.withLock { state in
                if state.hasEnded || state.printed.contains(id) { return true }
                state.waiting[id, default: []].append(continuation)
                return false
            }
            if isPrinted { continuation.resume() }
        }
    }
}
