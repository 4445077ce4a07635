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
        public mutating func next() async -> ListChange? { await mailbox.next()?.change }
    }
}

/// The merged updates that one listener has not received yet.
final class ListMailbox: Sendable {
    private struct State {
        var change = ListChange()
        var events = WaitingEvents()
        var position: UInt64 = 0
        /// Keyed by object, so that no object is replaced, and thereby released, while the lock is held.
        var held: [ObjectIdentifier: LiveDownload] = [:]
        var isClosed = false

        mutating func take() -> ListUpdates.Element? {
            if change.isEmpty, events.isEmpty { return nil }
            defer { (change, held) = (ListChange(), [:]) }
            return ListUpdates.Element(
                change: change, events: events.take().compactMap(\.event), position: position,
                held: Array(held.values))
        }
    }
    /// Maximum number of objects that are kept in memory for a listener; beyond it, the rows of the downloads are read.
    static let maxHeld = 200
    /// Whether the listener receives events too.
    let hasEvents: Bool
    private let state = Mutex(State())
    private let updates = AsyncEvent()

    init(hasEvents: Bool) { self.hasEvents = hasEvents }

    /// Adds an update; ``notify()`` wakes the listener.
    ///
    /// - Parameter lives: The objects of the changed downloads; a listener of events keeps some of them.
    func put(_ change: ListChange, _ events: [DownloadEvent], _ lives: [LiveDownload], position: UInt64) {
        state.withLock { state in
            state.position = position
            state.change.merge(change)
            guard hasEvents else { return }
            for event in events { state.events.append(.event(event)) }
            for live in lives where state.held.count < Self.maxHeld { state.held[ObjectIdentifier(live)] = live }
            // A client may know a download that was added and removed meanwhile, because a response contained it.
            state.change.removed.formUnion(change.removed)
            state.change.removedFrom.merge(change.removedFrom) { $1 }
        }
    }

    func notify() { updates.notify() }

    func close() {
        state.withLock { $0.isClosed = true }
        updates.notify()
    }

    func next() async -> ListUpdates.Element? {
        while !Task.isCancelled {
            let seen = updates.count
            let (found, isClosed) = state.withLock { ($0.take(), $0.isClosed) }
            if let found { return found }
            if isClosed { return nil }
            await updates.wait(after: seen)
        }
        return nil
    }
}

/// The listeners of the list, and the numbers of the updates.
final class ListHub: Sendable {
    private struct WeakMailbox { weak var mailbox: ListMailbox? }
    private let state = Mutex((mailboxes: [WeakMailbox](), isClosed: false))
    private let last = Atomic<UInt64>(1)
    private let registry: LiveRegistry

    init(_ registry: LiveRegistry) { self.registry = registry }

    /// The number of the newest update; 1 if there is none.
    var position: UInt64 { last.load(ordering: .acquiring) }

    func mailbox(hasEvents: Bool) -> ListMailbox {
        let mailbox = ListMailbox(hasEvents: hasEvents)
        let isClosed = state.withLock { state in
            state.mailboxes.removeAll { $0.mailbox == nil }
            if !state.isClosed { state.mailboxes.append(WeakMailbox(mailbox: mailbox)) }
            return state.isClosed
        }
        if isClosed { mailbox.close() }
        return mailbox
    }

    /// Whether a listener receives events.
    var isFollowed: Bool { state.withLock { $0.mailboxes.contains { $0.mailbox?.hasEvents == true } } }

    /// Sends the next update to all listeners, while the lock is held, so that all listeners get the updates in the same order. The
    /// listeners are woken after the lock is released.
    func tell(_ make: () -> ListChange, _ events: [DownloadEvent]) {
        let (mailboxes, held): ([ListMailbox], [LiveDownload]) = state.withLock { state in
            let position = last.add(1, ordering: .acquiringAndReleasing).newValue
            let mailboxes = state.mailboxes.compactMap(\.mailbox)
            guard !mailboxes.isEmpty else { return ([], []) }
            let change = make()
            let lives = mailboxes.contains(where: \.hasEvents) ? objects(of: change) : []
            for mailbox in mailboxes { mailbox.put(change, events, lives, position: position) }
            return (mailboxes, lives)
        }
        for mailbox in mailboxes { mailbox.notify() }
        // No object is released while the lock is held.
        withExtendedLifetime(held) {}
    }

    /// The objects of a change; empty if the change has more downloads than a listener may keep.
    private func objects(of change: ListChange) -> [LiveDownload] {
        let most = max(change.added.count, change.changed.count, change.moved.count)
        guard most <= ListMailbox.maxHeld else { return [] }
        let ids = change.added.union(change.changed).union(change.moved)
        return ids.count <= ListMailbox.maxHeld ? ids.compactMap { registry[$0] } : []
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
    /// Whether the order of the list may have changed.
    public var isReordered = false
    /// The session of each removed download; empty if a daemon keeps the list.
    package var removedFrom: [DownloadID: String] = [:]
    /// The downloads whose position changed; empty if a daemon keeps the list.
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
                // Removed and added again: a different download, at a different position.
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
