package import FerryAPI
package import FerryCore

/// Numbered events: those that were delivered in this process, those that the app has not acknowledged, and those to acknowledge
/// to the daemon.
struct EventReceipts: Sendable {
    /// Events that the app has not acknowledged, by number.
    private(set) var pending: [Int64: DownloadEvent] = [:]
    /// Numbers that the app has acknowledged, but that have not yet been acknowledged to the daemon.
    private(set) var handled: Set<Int64> = []
    /// Numbers of all delivered events, limited to the most recent ones.
    private var seen: Set<Int64> = []
    /// Whether a task is sending acknowledgements.
    private var isSending = false
    private static let most = 20_000

    /// The unacknowledged events, in order.
    var backlog: [DownloadEvent] { pending.values.sorted { ($0.number ?? 0) < ($1.number ?? 0) } }

    /// Records an event of the daemon. Returns `false` if it was received before, because a new connection repeats events.
    mutating func isNew(_ event: DownloadEvent) -> Bool {
        guard let number = event.number else { return true }
        guard seen.insert(number).inserted else { return false }
        if seen.count > Self.most, let newest = seen.max() {
            // Numbers ascend, so a repeated event is among the most recent ones or still pending.
            seen = seen.filter { $0 > newest.adding(-Int64(Self.most / 2)) }.union(pending.keys)
        }
        pending[number] = event
        return true
    }

    /// Records an acknowledgement by the app. Returns `false` if it is repeated.
    mutating func handle(_ number: Int64) -> Bool {
        guard pending.removeValue(forKey: number) != nil else { return false }
        handled.insert(number)
        return true
    }

    /// Returns whether to start a task that sends acknowledgements: there are some, and no task is sending them.
    mutating func beginSending() -> Bool {
        guard !isSending, !handled.isEmpty else { return false }
        isSending = true
        return true
    }

    /// Returns the numbers that the task sends next; if there are none, the task ends.
    mutating func nextToSend() -> Set<Int64> {
        if handled.isEmpty { isSending = false }
        return handled
    }

    mutating func endSending() { isSending = false }

    /// Removes numbers that the daemon has acknowledged.
    mutating func delivered(_ numbers: Set<Int64>) { handled.subtract(numbers) }
}

/// A follower of the daemon's events; see ``DaemonLink/follow(_:)``.
package protocol EventFollower: Sendable {
    /// Opens the event stream; with `mayStart`, the daemon may be started for it.
    func open(mayStart: Bool) async throws(DownloadError) -> EventReader
    /// Applies an event. The events of one stream are applied in order. Throws if the stream must be reopened.
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure)
    /// Called when the stream has ended, or with the failure when it could not be opened. Returns whether to reopen it.
    func isToReopen(after failure: DownloadError?) -> Bool
    /// Whether the daemon is needed now, so that it may be started even if it was stopped on purpose.
    var needsDaemon: Bool { get }
}
