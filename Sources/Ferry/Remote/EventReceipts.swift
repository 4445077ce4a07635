import FerryCore

/// Numbered events: which were handed out in this process, which the app has not handled yet, and which the daemon is to
/// be told of.
struct EventReceipts: Sendable {
    /// Those that the app has not handled, by their number.
    private(set) var pending: [Int64: DownloadEvent] = [:]
    /// Handled here, and the daemon does not know yet.
    private(set) var handled: Set<Int64> = []
    /// All that were handed out, down to a bound.
    private var seen: Set<Int64> = []
    private static let most = 20_000

    /// The events that the app has not handled, in their order.
    var backlog: [DownloadEvent] { pending.values.sorted { ($0.number ?? 0) < ($1.number ?? 0) } }

    /// Notes an event that the daemon tells. False for one that was told before: it comes again with another connection.
    mutating func isNew(_ event: DownloadEvent) -> Bool {
        guard let number = event.number else { return true }
        guard seen.insert(number).inserted else { return false }
        if seen.count > Self.most, let newest = seen.max() {
            // Numbers ascend: what comes again is among the newest, or still pending.
            seen = seen.filter { $0 > newest.adding(-Int64(Self.most / 2)) }.union(pending.keys)
        }
        pending[number] = event
        return true
    }

    /// The app has handled one. False for one that it had handled before.
    mutating func handle(_ number: Int64) -> Bool {
        guard pending.removeValue(forKey: number) != nil else { return false }
        handled.insert(number)
        return true
    }

    /// The daemon knows of these.
    mutating func delivered(_ numbers: Set<Int64>) { handled.subtract(numbers) }
}
