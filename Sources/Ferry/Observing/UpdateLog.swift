package import FerryCore
import Synchronization

/// What changes in a list and what happens to its downloads. Each hub tells all its listeners in one order; updates that are
/// appended at the same time may differ between the two.
///
/// ```
/// a row or an object changes ─► append ─┬─► EventHub     events, each to every listener and delegate
///                               position └─► ListHub      changes of the list, merged for each listener;
///                                                         with their events for the daemon's stream
/// ```
///
/// Invariant: what an update tells is in the row (submitted, at least) and in the object before it is appended. A row or an
/// object that is read after ``position`` was read is therefore as new as every update up to that position.
///
/// An update has no copy of what it tells. For a listener of events, the objects of a few downloads stay in memory until
/// it has told of them, so that their rows need not be read.
package final class UpdateLog: Sendable {
    private let events: EventHub
    private let list: ListHub

    /// - Parameters:
    ///   - metrics: Told of each event; `nil` in a client of a daemon (``RemoteSession``), which counts them itself.
    ///   - registry: The downloads in memory.
    package init(_ metrics: ManagerMetrics? = nil, of registry: LiveRegistry = LiveRegistry()) {
        events = EventHub(metrics)
        list = ListHub(registry)
    }

    /// The number of the newest update: 1 before the first, then one more with each, also after ``close()``.
    var position: UInt64 { list.position }

    /// Whether events have a listener, or the system has a log. Without any, additions need no events: metrics count them apart.
    var isHeard: Bool { events.isHeard || list.isFollowed }

    // MARK: Appending

    /// Appends a change and the events that it brought about. `change` is made only if somebody listens, under the hub's lock.
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

    /// Ends all listeners after the updates so far. Later updates reach nobody, but are still counted and logged.
    package func close() {
        list.close()
        events.close()
    }
}

/// Changes of the list and events, in the order of the log. Those that occur while the listener is busy are merged into
/// one element: its change is in effect before its events.
package struct ListUpdates: AsyncSequence, Sendable {
    package struct Element: Sendable {
        package var change: ListChange
        package var events: [DownloadEvent]
        /// The number of the last of these updates.
        package var position: UInt64
        /// Keeps downloads that were added, changed or moved in memory while the element is.
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
