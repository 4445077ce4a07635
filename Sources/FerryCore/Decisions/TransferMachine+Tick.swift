extension TransferMachine {
    /// The interval between two ticks.
    package static let tickInterval: Duration = .milliseconds(100)

    /// Returns the commands that are due. Called about every ``tickInterval``, and when a connection or checkpoint has
    /// ended.
    package mutating func tick(at now: Duration) -> [Command] {
        var commands: [Command] = []
        if case .failing(let error) = phase {
            phase = .ended
            return connections.keys.sorted { $0.rawValue < $1.rawValue }.map { .cut($0) } + [.fail(error)]
        }
        guard phase != .ended else { return [] }
        openings.areUrgent = false
        checkpoints.watch(from: now)
        if arrivals.measuredAt.map({ now - $0 >= Self.tickInterval }) ?? true {
            let bytes = measure(at: now)
            commands += reconnections(bytes, at: now)
        }
        commands += cutStalled(at: now) + cutUnanswered(at: now)
        if let lost = lostConnection(at: now) { tell(lost, .superseded, &commands) }
        let isThere = phase == .running && planner.isComplete && !isChecking
        if phase == .finishing || isThere && connections.values.allSatisfy({ $0.body?.isProbe != true || $0.isCut }) {
            enter(.finishing)
            guard connections.isEmpty else { return commands + cutAll() }
            enter(.ended)
            return commands + [.finish]
        }
        commands += connectionsToOpen(at: now)
        redirectToReaders(at: now)
        if isCheckpointDue(at: now) {
            checkpoints.order()
            commands.append(.checkpoint)
        }
        return commands
    }

    /// Returns the bytes that have arrived on all connections since the last tick.
    private mutating func measure(at now: Duration) -> ByteCount {
        let seconds = arrivals.measure(at: now)
        var sum: ByteCount = 0
        for (id, connection) in connections {
            sum += connection.tickBytes
            if connection.body != nil, connection.bytes > 0 {
                let rate = Double(connection.tickBytes) / seconds
                connections[id]?.speed = connection.speed == 0 ? rate : connection.speed * 0.8 + rate * 0.2
            }
            connections[id]?.tickBytes = 0
        }
        watch(at: now)
        guard phase == .running, allowsParts else { return sum }
        let before = policy.target
        policy.tick(
            bytes: sum, delivering: connections.values.count { $0.bytes > 0 && !$0.isCut },
            left: planner.remainingBytes ?? 0, roundTrip: latency.roundTrip,
            isAsking: connections.values.allSatisfy { $0.isAsking || $0.isCut })
        if policy.target < before { retireSilent(to: policy.target) }
        return sum
    }

    /// Cancels some connections to a far server when the line has become faster: new ones fill it sooner.
    private mutating func reconnections(_ bytes: ByteCount, at now: Duration) -> [Command] {
        let all = connections.values
        guard phase == .running, allowsParts, readers.isEmpty, !policy.hasRefusals,
            latency.roundTrip >= ConnectionCountPolicy.far,
            all.count >= max(ReconnectionPolicy.share, policy.target),
            all.allSatisfy({ !$0.isCut && $0.isAsking && $0.bytes > 0 })
        else {
            openings.reconnection.reset()
            return []
        }
        guard openings.reconnection.tick(bytes: bytes, roundTrip: latency.roundTrip) else { return [] }
        // Those that need longest for their segments.
        let candidates = planner.segments.compactMap { id, segment -> (id: ConnectionID, seconds: Double)? in
            guard let connection = connections[id], connection.hasDelivered, connection.body?.isChecked == false,
                connection.speed > 0
            else { return nil }
            return (id, Double(segment.remaining) / connection.speed)
        }
        let slowest = candidates.sorted { ($0.seconds, $0.id.rawValue) > ($1.seconds, $1.id.rawValue) }
        var commands: [Command] = []
        let worth = latency.roundTrip.seconds * 10
        for (id, seconds) in slowest.prefix(all.count / ReconnectionPolicy.share) where seconds > worth {
            tell(id, .superseded, &commands)
            planner.release(id)
            // The end of these must be sent before the new ones are made, or the server sees more at a time.
            openings.delay(until: now + Self.tickInterval / 2)
        }
        return commands
    }

    /// Cancels connections above `target` that have no response yet, newest first.
    private mutating func retireSilent(to target: Int) {
        var count = connections.values.count { !$0.isCut }
        for (id, connection) in connections.sorted(by: { $0.key.rawValue > $1.key.rawValue })
        where count > target && connection.body == nil && connection.bytes == 0 {
            cut(id)
            planner.release(id)
            count -= 1
        }
    }

    private mutating func cutStalled(at now: Duration) -> [Command] {
        var commands: [Command] = []
        for (id, connection) in connections {
            if let cut = connection.cut {
                if !cut.isSent { tell(id, .superseded, &commands) }
                continue
            }
            // The remaining bytes of this quiet connection were reassigned, so it has nothing left to read.
            if let segment = planner.segments[id], segment.position >= segment.end, segment.writing == nil,
                isQuiet(connection, at: now), segment.end < segment.askedEnd
            {
                tell(id, .superseded, &commands)
                continue
            }
            guard connection.body != nil, connection.isAsking, now - connection.markTime >= settings.stallTimeout else {
                continue
            }
            if connection.bytes - connection.markBytes < settings.stallBytes {
                let timeout = "\(settings.stallTimeout)".prefix { $0 != " " }
                note(
                    Reason(.connectionStalled, "\(settings.stallBytes)", ErrorPhrase(.seconds, String(timeout))))
                tell(id, .stalled, &commands)
            } else {
                change(id) { $0.mark(at: now) }
            }
        }
        return commands
    }

    /// Cancels all connections if a server that answered before answers none of several: it may serve fewer, and count
    /// those that it leaves without an answer.
    private mutating func cutUnanswered(at now: Duration) -> [Command] {
        guard phase == .running, file.representation != nil, connections.count > 1,
            connections.values.allSatisfy({ connection in
                connection.body == nil && !connection.isCut && isQuiet(connection, at: now)
                    && now - connection.lastByte >= latency.patience * 2
            })
        else { return [] }
        latency.increasePatience()
        policy.objected(working: 1)
        var commands: [Command] = []
        for id in connections.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            tell(id, .superseded, &commands)
            planner.release(id)
        }
        return commands
    }

    /// Cancels a connection and returns the action for the driver.
    private mutating func tell(_ id: ConnectionID, _ reason: Connection.Cut.Reason, _ commands: inout [Command]) {
        cut(id, reason)
        connections[id]?.cut?.isSent = true
        commands.append(.cut(id))
    }

    private mutating func cutAll() -> [Command] {
        var commands: [Command] = []
        for (id, connection) in connections where connection.cut?.isSent != true {
            tell(id, .superseded, &commands)
        }
        return commands
    }

    private mutating func connectionsToOpen(at now: Duration) -> [Command] {
        if case .waiting(let until) = phase {
            guard connections.isEmpty, now >= until else { return [] }
            enter(.opening)
        }
        if case .reopening = phase { return connections.isEmpty ? [open(at: now)] : [] }
        if connections.isEmpty { return [open(at: now)] }
        guard phase == .running, now >= openings.notBefore, allowsParts else { return [] }
        // Storage for the file is being prepared: bytes of other connections would go to the old file, or nowhere.
        if connections.values.contains(where: { $0.body?.isPlaced == false }) { return [] }
        let open = connections.values.count { !$0.isCut }
        let hasStalled = hasStalled(at: now)
        let isHeld = connections.values.contains { $0.body == nil && !$0.isCut } && policy.target <= 2 && !hasStalled
        // A reader that waits is worth another connection.
        let unserved = unservedReaders(at: now)
        let target = max(policy.target + (hasStalled ? 1 : 0), min(open + unserved, policy.ceiling))
        // A cut connection counts against the limit until its task has ended: the server still sees it.
        let wanted = min(target, settings.maxConnections - (connections.count - open))
        guard open < wanted, !isHeld && hasWork(at: now) || unserved > 0 else { return [] }
        return (open..<wanted).map { _ in self.open(at: now) }
    }

    private mutating func open(at now: Duration) -> Command {
        let id = openings.newID()
        connections[id] = Connection(at: now)
        return .open(id)
    }
}

extension TransferMachine {
    /// What has arrived on all connections.
    package struct Arrivals: Sendable {
        /// Bytes of response bodies, including discarded ones.
        package private(set) var bytes: ByteCount = 0
        /// When any connection last had received ``Settings/stallBytes`` more.
        private(set) var lastBrought: Duration?
        /// When the speeds were last measured.
        private(set) var measuredAt: Duration?

        mutating func add(_ count: ByteCount) { bytes += count }
        mutating func brought(at now: Duration) { lastBrought = now }

        /// Excludes a pause in which nothing was read from the time since the last arrival.
        mutating func exclude(_ pause: Duration, at now: Duration) {
            lastBrought = lastBrought.map { min(now, $0 + pause) }
        }

        /// Returns the seconds since the last measurement.
        mutating func measure(at now: Duration) -> Double {
            defer { measuredAt = now }
            return max((now - (measuredAt ?? now)).seconds, 0.001)
        }
    }

    /// When connections are opened, and made anew.
    struct Openings: Sendable {
        private var lastID = 0
        /// Until then no further connection is opened.
        var notBefore: Duration = .zero
        /// The first bytes of a file have arrived since the last tick: others may join.
        var areUrgent = false
        var reconnection = ReconnectionPolicy()

        mutating func newID() -> ConnectionID {
            lastID += 1
            return ConnectionID(rawValue: lastID)
        }

        mutating func delay(until time: Duration) { notBefore = max(notBefore, time) }
    }

    /// Counts received bytes that are not stored, such as samples.
    package mutating func receivedElsewhere(_ count: ByteCount) { arrivals.add(count) }
}

extension Duration {
    /// The duration in seconds, with fraction.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
