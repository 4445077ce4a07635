import FerryCore

/// The permit of one connection, kept over all its requests. It covers one host at a time, so that no connection
/// waits for one host while it occupies another.
struct ConnectionPermit {
    private let gate: ConnectionLimiter
    private(set) var host: Origin?

    init(_ gate: ConnectionLimiter) { self.gate = gate }

    /// Whether connections wait for the permit's host or exceed its limit.
    var isWanted: Bool { host.map(gate.isCrowded) ?? false }

    /// Releases the current permit and takes one for `new` if there is room now. Returns whether it has one.
    mutating func tryTake(_ new: Origin) -> Bool {
        if host == new { return true }
        leave()
        guard gate.tryEnter(new) else { return false }
        host = new
        return true
    }

    /// Releases the current permit and waits for one for `new`. Returns `false` when the task is cancelled.
    mutating func take(_ new: Origin) async -> Bool {
        if host == new { return true }
        leave()
        guard await gate.enter(new) else { return false }
        host = new
        return true
    }

    /// Moves the permit to `new` even beyond the limit: the connection is already open.
    mutating func join(_ new: Origin) {
        if host == new { return }
        leave()
        gate.join(new)
        host = new
    }

    /// Releases the permit. The creator must call this at the end.
    mutating func leave() {
        if let host { gate.leave(host) }
        host = nil
    }
}
