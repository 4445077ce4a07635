import FerryCore

/// The place that one connection has at a host, over all its requests; one at a time, so that nobody waits while holding
/// another.
struct ConnectionPermit {
    private let gate: ConnectionLimiter
    private(set) var host: Origin?

    init(_ gate: ConnectionLimiter) { self.gate = gate }

    /// Whether somebody waits for it.
    var isWanted: Bool { host.map(gate.isCrowded) ?? false }

    /// Takes a place there when there is one; what it had is given up.
    mutating func tryTake(_ new: Origin) -> Bool {
        if host == new { return true }
        leave()
        guard gate.tryEnter(new) else { return false }
        host = new
        return true
    }

    /// Waits for a place there. False when the task is cancelled.
    mutating func take(_ new: Origin) async -> Bool {
        if host == new { return true }
        leave()
        guard await gate.enter(new) else { return false }
        host = new
        return true
    }

    /// The connection is there already, room or not.
    mutating func join(_ new: Origin) {
        if host == new { return }
        leave()
        gate.join(new)
        host = new
    }

    /// Gives it up. Whoever makes a seat calls this at the end.
    mutating func leave() {
        if let host { gate.leave(host) }
        host = nil
    }
}
