/// Changes by the user and the network during a transfer.
extension TransferMachine {
    /// The network has changed: cancels all connections and reconnects at once. Neither this nor a late failure of the
    /// old connections counts as a failed attempt.
    package mutating func reconnect(at now: Duration) {
        guard phase != .ended, !isFinishing else { return }
        for id in connections.keys { cut(id, .abandoned) }
        notBefore = now
        retryNow(at: now)
    }

    /// Ends a back-off early.
    package mutating func retryNow(at now: Duration) {
        guard case .waiting = phase else { return }
        phase = .waiting(until: now)
    }

    /// Changes the user's connection limit. Connections above it are cancelled, newest first.
    package mutating func set(maxConnections: Int) {
        settings.maxConnections = max(1, maxConnections)
        policy.set(limit: settings.maxConnections)
        var count = connections.values.count { !$0.isCut }
        for id in connections.keys.sorted(by: { $0.rawValue > $1.rawValue })
        where count > settings.maxConnections && connections[id]?.isCut == false {
            cut(id)
            count -= 1
        }
    }

    /// An existing file has the length of the representation: its samples are compared, with none of it fetched.
    package mutating func examine() {
        guard let total = planner.total else { return }
        planner = SegmentPlanner(total: total, claimed: RangeSet(0..<total))
        isExamining = true
        sources[primary].trust = .unproven
        phase = .opening
    }

    /// The existing file is another one: begins with nothing.
    package mutating func leaveExamined() {
        isExamining = false
        isFinishing = false
        restarted()
    }

    /// Whether other connections may still deliver.
    package func hasOthers(than id: ConnectionID) -> Bool { others(than: id) > 0 }

    /// The host's connection limit is used up by other downloads: this connection ends, and the next is opened after a
    /// delay. The server is not at fault, so no failure is counted and the ceiling stays.
    package mutating func noRoom(for id: ConnectionID, at now: Duration) {
        planner.release(id)
        cut(id, .abandoned)
        policy.withheld(working: others(than: id))
        notBefore = max(notBefore, now + .seconds(1))
    }

    /// The retry state for the next run.
    package var memory: RetryMemory {
        var memory = RetryMemory()
        memory.attempts = retry.attempts
        memory.changes = changes
        memory.mostBytes = mostWritten
        return memory
    }
}
