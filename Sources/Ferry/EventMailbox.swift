import Synchronization

/// The events that one listener has not seen yet.
///
/// Who sends only appends: the listener is woken once for all that came meanwhile, and outside every lock.
final class EventMailbox: Sendable {
    private struct State {
        var waiting: [DownloadEvent] = []
        var listener: CheckedContinuation<Void, Never>?
        var isClosed = false
    }
    private let state = Mutex(State())
    /// What was taken and not given yet; only the listener's.
    private let taken = Mutex<(events: [DownloadEvent], next: Int)>(([], 0))

    /// Appends an event; what the call returns is to be resumed once no lock is held.
    func append(_ event: DownloadEvent) -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.waiting.append(event)
            defer { state.listener = nil }
            return state.listener
        }
    }

    /// Nothing more comes.
    func close() {
        let listener = state.withLock { state in
            state.isClosed = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.resume()
    }

    /// The next event; `nil` after the last, and when the task is cancelled.
    func next() async -> DownloadEvent? {
        while true {
            if let event = takeNext() { return event }
            let isOver = state.withLock { state in state.waiting.isEmpty && state.isClosed }
            if isOver || Task.isCancelled { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let goesOn = state.withLock { state in
                        if !state.waiting.isEmpty || state.isClosed || Task.isCancelled { return true }
                        state.listener = continuation
                        return false
                    }
                    if goesOn { continuation.resume() }
                }
            } onCancel: {
                state.withLock { state in
                    defer { state.listener = nil }
                    return state.listener
                }?.resume()
            }
        }
    }

    private func takeNext() -> DownloadEvent? {
        taken.withLock { taken in
            if taken.next == taken.events.count {
                taken.events.removeAll(keepingCapacity: true)
                state.withLock { swap(&$0.waiting, &taken.events) }
                taken.next = 0
            }
            guard taken.next < taken.events.count else { return nil }
            taken.next += 1
            return taken.events[taken.next - 1]
        }
    }
}
