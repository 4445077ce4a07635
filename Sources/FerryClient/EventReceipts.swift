package import FerryAPI
package import FerryCore

/// Numbered events: those delivered in this process, those that the app has not acknowledged, and those to
/// acknowledge to the daemon.
struct EventReceipts: Sendable {
    /// Events that the app has not acknowledged, by their number.
    private(set) var pending: [Int64: DownloadEvent] = [:]
    /// Numbers acknowledged by the app and not yet by the daemon.
    private(set) var handled: Set<Int64> = []
    /// Numbers of all delivered events, limited to the newest.
    private var seen: Set<Int64> = []
    /// Whether a task sends acknowledgements.
    private var isSending = false
    private static let most = 20_000

    /// The unacknowledged events, in order.
    var backlog: [DownloadEvent] { pending.values.sorted { ($0.number ?? 0) < ($1.number ?? 0) } }

    /// Notes an event of the daemon. Returns false for one received before, since a new connection repeats them.
    mutating func isNew(_ event: DownloadEvent) -> Bool {
        guard let number = event.number else { return true }
        guard seen.insert(number).inserted else { return false }
        if seen.count > Self.most, let newest = seen.max() {
            // Numbers ascend, so a repeated event is among the newest or still pending.
            seen = seen.filter { $0 > newest.adding(-Int64(Self.most / 2)) }.union(pending.keys)
        }
        pending[number] = event
        return true
    }

    /// Notes an acknowledgement by the app. Returns false for a repeated one.
    mutating func handle(_ number: Int64) -> Bool {
        guard pending.removeValue(forKey: number) != nil else { return false }
        handled.insert(number)
        return true
    }

    /// Returns whether a task is to send acknowledgements now: there are some, and no task does.
    mutating func beginSending() -> Bool {
        guard !isSending, !handled.isEmpty else { return false }
        isSending = true
        return true
    }

    /// Returns the numbers that the task sends next; without any, it ends.
    mutating func nextToSend() -> Set<Int64> {
        if handled.isEmpty { isSending = false }
        return handled
    }

    mutating func endSending() { isSending = false }

    /// Removes numbers that the daemon has acknowledged.
    mutating func delivered(_ numbers: Set<Int64>) { handled.subtract(numbers) }
}

/// What follows the daemon's events; see ``DaemonLink/follow(_:)``.
package protocol EventFollower: Sendable {
    /// Opens the event stream; with `mayStart`, the daemon may be started for it.
    func open(mayStart: Bool) async throws(DownloadError) -> EventReader
    /// Applies an event; those of one stream in order. Throws if the stream must be opened again.
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure)
    /// Called when the stream has ended, or with the failure when it could not be opened. Returns whether to open it
    /// again.
    func isToReopen(after failure: DownloadError?) -> Bool
    /// Whether the daemon is needed now, so that it may be started although it was stopped on purpose.
    var needsDaemon: Bool { get }
}
