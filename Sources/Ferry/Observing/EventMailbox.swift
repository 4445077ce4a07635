import FerryCore
import Synchronization

/// What one listener has not seen yet.
///
/// Who sends only appends: the listener is woken once for all that came meanwhile, and outside every lock. What waits for
/// one that does not listen is bounded: see ``WaitingEvents``.
final class EventMailbox: Sendable {
    enum Item: Sendable {
        case event(DownloadEvent)
        /// All that ended before this listener came has been told.
        case upToDate
        /// A download has moved on; how far is asked when it is told.
        case progress(DownloadID)
    }

    private struct State {
        var waiting = WaitingEvents()
        var listener: CheckedContinuation<Void, Never>?
        var isClosed = false
    }
    private let state = Mutex(State())
    /// What was taken and not given yet; only the listener's.
    private let taken = Mutex<(items: [Item], next: Int)>(([], 0))

    /// Appends; what the call returns is to be resumed once no lock is held.
    func append(_ item: Item) -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.waiting.append(item)
            defer { state.listener = nil }
            return state.listener
        }
    }

    /// Appends and wakes the listener.
    func put(_ item: Item) { append(item)?.resume() }

    /// The next event, whatever else there is.
    func nextEvent() async -> DownloadEvent? {
        while let item = await next() { if case .event(let event) = item { return event } }
        return nil
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

    /// Nobody listens any more: what waits goes, and nothing more comes.
    func abandon() {
        close()
        state.withLock { $0.waiting = WaitingEvents() }
        taken.withLock { $0 = ([], 0) }
    }

    /// The next one; `nil` after the last, and when the task is cancelled.
    func next() async -> Item? {
        while true {
            if let item = takeNext() { return item }
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

    private func takeNext() -> Item? {
        taken.withLock { taken in
            if taken.next == taken.items.count {
                taken = (state.withLock { $0.waiting.take() }, 0)
            }
            guard taken.next < taken.items.count else { return nil }
            taken.next += 1
            return taken.items[taken.next - 1]
        }
    }
}
