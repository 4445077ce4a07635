public import FerryCore
import FerryEngine
import Synchronization

/// Changes of the list. Changes that occur while a listener is busy are merged, so that there is no backlog.
public struct ListChanges: AsyncSequence, Sendable {
    let mailbox: ListMailbox

    public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

    public struct Iterator: AsyncIteratorProtocol {
        let mailbox: ListMailbox

        /// The next change; `nil` once the manager is shut down or the task is cancelled.
        public mutating func next() async -> ListChange? { await mailbox.next() }
    }
}

/// The merged changes that one listener has not received yet.
final class ListMailbox: Sendable {
    private let change = Mutex((pending: ListChange(), isClosed: false))
    private let updates = AsyncEvent()

    func put(_ later: ListChange) {
        change.withLock { $0.pending.merge(later) }
        updates.notify()
    }

    func close() {
        change.withLock { $0.isClosed = true }
        updates.notify()
    }

    func next() async -> ListChange? {
        while !Task.isCancelled {
            let seen = updates.count
            let (found, isClosed) = change.withLock { state in
                defer { state.pending = ListChange() }
                return (state.pending, state.isClosed)
            }
            if !found.isEmpty { return found }
            if isClosed { return nil }
            await updates.wait(after: seen)
        }
        return nil
    }
}

/// The listeners of the list.
final class ListHub: Sendable {
    private struct WeakMailbox { weak var mailbox: ListMailbox? }
    private let state = Mutex((mailboxes: [WeakMailbox](), isClosed: false))

    func changes() -> ListChanges {
        let mailbox = ListMailbox()
        let isClosed = state.withLock { state in
            state.mailboxes.removeAll { $0.mailbox == nil }
            if !state.isClosed { state.mailboxes.append(WeakMailbox(mailbox: mailbox)) }
            return state.isClosed
        }
        if isClosed { mailbox.close() }
        return ListChanges(mailbox: mailbox)
    }

    func tell(_ make: () -> ListChange) {
        let mailboxes = state.withLock { $0.mailboxes.compactMap(\.mailbox) }
        guard !mailboxes.isEmpty else { return }
        let change = make()
        for mailbox in mailboxes { mailbox.put(change) }
    }

    func close() {
        let mailboxes = state.withLock { state in
            state.isClosed = true
            defer { state.mailboxes.removeAll() }
            return state.mailboxes.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.close() }
    }
}

/// Changes of the download list since a listener's last read; several changes are merged.
public struct ListChange: Sendable, Hashable {
    /// Downloads that were added to the list.
    public var added: Set<DownloadID> = []
    /// Downloads that were removed from the list.
    public var removed: Set<DownloadID> = []
    /// Downloads whose state, name or priority changed.
    public var changed: Set<DownloadID> = []
    /// Whether the order may differ.
    public var isReordered = false
    /// The session of each removed download; empty if it is a daemon that keeps the list.
    package var removedFrom: [DownloadID: String] = [:]
    /// The downloads whose position changed; empty if it is a daemon that keeps the list.
    package var moved: Set<DownloadID> = []

    /// Creates an empty change.
    package init() {}

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && !isReordered }

    /// Merges a later change into this one.
    mutating func merge(_ later: ListChange) {
        for id in later.removed {
            if added.remove(id) == nil {
                removed.insert(id)
                removedFrom[id] = later.removedFrom[id]
            }
            changed.remove(id)
            moved.remove(id)
        }
        for id in later.added {
            if removed.remove(id) == nil {
                added.insert(id)
            } else {
                // Removed and added again: another download, at another position.
                changed.insert(id)
                removedFrom[id] = nil
                moved.insert(id)
                isReordered = true
            }
        }
        changed.formUnion(later.changed.subtracting(added).subtracting(removed))
        moved.formUnion(later.moved.subtracting(added).subtracting(removed))
        isReordered = isReordered || later.isReordered
    }
}
