import FerryCore
import Synchronization

/// The events that one listener has not received yet.
///
/// Sending only appends; the listener is resumed once for all pending events, while no lock is held. The number of pending
/// events is bounded; see ``WaitingEvents``.
final class EventMailbox: Sendable {
    enum Item: Sendable {
        case event(DownloadEvent)
        /// Marks that all ends from before this listener's registration have been delivered.
        case upToDate
        /// A download has progressed; the value is read on delivery.
        case progress(DownloadID)
    }

    private struct State {
        var waiting = WaitingEvents()
        var listener: CheckedContinuation<Void, Never>?
        var isClosed = false
    }
    private let state = Mutex(State())
    /// Items taken from `state` and not yet returned; used by the listener only.
    private let taken = Mutex<(items: [Item], next: Int)>(([], 0))

    /// Appends an item. The caller must resume the returned continuation once it holds no lock.
    func append(_ item: Item) -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.waiting.append(item)
            defer { state.listener = nil }
            return state.listener
        }
    }

    /// Appends an item, and resumes the listener.
    func put(_ item: Item) { append(item)?.resume() }

    /// The next event; skips other items.
    func nextEvent() async -> DownloadEvent? {
        while let item = await next() { if case .event(let event) = item { return event } }
        return nil
    }

    /// Closes the mailbox; pending items can still be read.
    func close() {
        let listener = state.withLock { state in
            state.isClosed = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.resume()
    }

    /// Closes the mailbox and discards pending items, because the listener has been released.
    func abandon() {
        close()
        state.withLock { $0.waiting = WaitingEvents() }
        taken.withLock { $0 = ([], 0) }
    }

    /// The next item; `nil` after the last one, and if the task is cancelled.
    func next() async -> Item? {
        while true {
            if let item = takeNext() { return item }
            let isOver = state.withLock { state in state.waiting.isEmpty && state.isClosed }
            if isOver || Task.isCancelled { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let continues = state.withLock { state in
                        if !state.waiting.isEmpty || state.isClosed || Task.isCancelled { return true }
                        state.listener = continuation
                        return false
                    }
                    if continues { continuation.resume() }
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

/// The pending items of one listener, in order. Their number is bounded even if the listener does not read.
///
/// Ends are always kept, because there is only one for each ended download. Other events, whose number a server can influence,
/// are dropped beyond a limit.
struct WaitingEvents: Sendable {
    /// Number of pending items above which events may be dropped.
    static let most = 10_000

    private(set) var items: [EventMailbox.Item] = []
    private var limit = WaitingEvents.most

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: EventMailbox.Item) {
        if items.count >= limit {
            items.removeAll(where: \.mayBeLeftOut)
            // Scan again only after the number of items has doubled, so that the cost per item is constant.
            limit = max(Self.most, 2 * items.count)
        }
        items.append(item)
    }

    /// Removes and returns all items.
    mutating func take() -> [EventMailbox.Item] {
        defer { self = WaitingEvents() }
        return items
    }
}

extension EventMailbox.Item {
    /// The event; `nil` for a marker or progress.
    var event: DownloadEvent? { if case .event(let event) = self { event } else { nil } }

    /// Whether the item may be dropped: true for events that are not ends; false for progress items, of which each download has
    /// one, and for the single marker.
    fileprivate var mayBeLeftOut: Bool {
        if case .event(let event) = self { !event.kind.isEnd } else { false }
    }
}
