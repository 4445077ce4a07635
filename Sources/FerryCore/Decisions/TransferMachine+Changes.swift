/// What users and the network change while it runs.
extension TransferMachine {
    /// The network that the connections go through is another one: all are cut, and it asks again at once. Neither this
    /// nor what the old connections still say counts as a failed attempt.
    package mutating func reconnect(at now: Duration) {
        guard phase != .ended, !isFinishing else { return }
        for id in connections.keys {
            connections[id]?.isCut = true
            connections[id]?.isStalled = false
            connections[id]?.isAbandoned = true
        }
        notBefore = now
        retryNow(at: now)
    }

    /// Ends a back-off.
    package mutating func retryNow(at now: Duration) {
        guard case .waiting = phase else { return }
        phase = .waiting(until: now)
    }

    /// The user's limit is another one. Connections beyond it are cut, the newest first.
    package mutating func set(maxConnections: Int) {
        settings.maxConnections = max(1, maxConnections)
        policy.set(limit: settings.maxConnections)
        var count = connections.values.count { !$0.isCut }
        for id in connections.keys.sorted(by: { $0.rawValue > $1.rawValue })
        where count > settings.maxConnections && connections[id]?.isCut == false {
            connections[id]?.isCut = true
            count -= 1
        }
    }

    /// What the next run counts on from.
    package var memory: RetryMemory {
        var memory = RetryMemory()
        memory.attempts = retry.attempts
        memory.changes = changes
        memory.mostBytes = mostWritten
        return memory
    }
}
