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

    /// Whether others go on without this one.
    package func hasOthers(than id: ConnectionID) -> Bool { others(than: id) > 0 }

    /// Other downloads have all the connections that this host may have: this one is over, and further ones are tried
    /// after a while. No fault of the server, so nothing is counted and no ceiling is lowered.
    package mutating func noRoom(for id: ConnectionID, at now: Duration) {
        planner.release(id)
        connections[id]?.isCut = true
        connections[id]?.isAbandoned = true
        policy.withheld(working: others(than: id))
        notBefore = max(notBefore, now + .seconds(1))
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
