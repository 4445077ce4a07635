package import FerryCore
import Synchronization

/// The changes of a list and the events of its downloads. Each hub sends updates to all its listeners in one order; the order
/// of updates that are appended concurrently may differ between the two hubs.
///
/// ```
/// a row or an object changes ─► append ─┬─► EventHub     events, each to every listener and delegate
///                               position └─► ListHub      changes of the list, merged for each listener;
///                                                         with their events for the daemon's stream
/// ```
///
/// Invariant: the row (at least as a submitted batch) and the object reflect an update before it is appended. A row or an
/// object that is read after ``position`` was read is therefore at least as new as every update up to that position.
///
/// An update contains no copy of the changed data. For a listener of events, the objects of a few downloads stay in memory
/// until the listener has reported them, so that their rows need not be read.
package final class UpdateLog: Sendable {
    private let events: EventHub
    private let list: ListHub

    /// - Parameters:
    ///   - metrics: Counts each event; `nil` in a client of a daemon (``RemoteSession``), because the daemon counts them
    ///     itself.
    ///   - registry: The downloads in memory.
    package init(_ metrics: ManagerMetrics? = nil, of registry: LiveRegistry = LiveRegistry()) {
        events = EventHub(metrics)
        list = ListHub(registry)
    }

    /// The number of the newest update: 1 before the first update, then increased by one with each update, even after ``close()``.
    var position: UInt64 { list.position }

    /// Whether events have a listener, or the system has a log. If not, additions need no events, because metrics count them
    /// separately.
    var isHeard: Bool { events.isHeard || list.isFollowed }

    // MARK: Appending

    /// Appends a change and the events that it caused. `change` is evaluated only if there is a listener, while the hub's lock
    /// is held.
    package func append(_ change: @autoclosure () -> ListChange, _ happened: [DownloadEvent] = []) {
        list.tell(change, happened)
        for event in happened { events.send(event) }
    }

    /// Appends an event together with the change of its download.
    func append(_ event: DownloadEvent) { append(ListChange(changed: [event.id]), [event]) }

    // MARK: Listening

    /// Registers a listener for all events from now on; see ``EventHub/listen(backlog:)``.
    package func listen(backlog: (@Sendable () async -> [DownloadEvent]?)? = nil) -> EventHub.Place {
        events.listen(backlog: backlog)
    }

    /// The changes from now on, without events.
    func changes() -> ListChanges { ListChanges(mailbox: list.mailbox(hasEvents: false)) }

    /// The changes and events from now on.
    func updates() -> ListUpdates { ListUpdates(mailbox: list.mailbox(hasEvents: true)) }

    /// Ends all listeners after the updates so far. Later updates reach no listener, but are still counted and logged.
    package func close() {
        list.close()
        events.close()
    }
}

/// Changes of the list and events, in the order of the log. Updates that occur while the listener is busy are merged into one
/// element, whose change precedes its events.
package struct ListUpdates: AsyncSequence, Sendable {
    package struct Element: Sendable {
        package var change: ListChange
        package var events: [DownloadEvent]
        /// The number of the last of these updates.
        package var position: UInt64
        /// While the element exists, keeps in memory the downloads that were added, changed or moved.
        let held: [LiveDownload]
    }

    let mailbox: ListMailbox

    package func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

    package struct Iterator: AsyncIteratorProtocol {
        let mailbox: ListMailbox

        /// The next updates; `nil` once the manager is shut down or the task is cancelled.
        package mutating func next() async -> Element? { await mailbox.next() }
    }
}
