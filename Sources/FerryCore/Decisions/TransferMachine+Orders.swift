extension TransferMachine {
    /// Bytes of a segment while much is missing; towards the end segments are smaller.
    static let usualSegment: ClosedRange<ByteCount> = (8 << 20)...(64 << 20)
    static let smallestSegment: ByteCount = 512 << 10
    /// The part of the stall timeout after which a connection that has delivered is silent.
    private static let silentShare = 30
    /// The minimum number of bytes to take from another connection's segment: of a slow one, and of a fast one.
    static let smallestSteal: ClosedRange<ByteCount> = (32 << 10)...(128 << 10)
    /// The time for which a connection receives what it takes from another, at least.
    private static let leastStolenSeconds = 0.1
    /// The share of the file that the first stream keeps when others join: they take time to become as fast.
    private static let firstShare = 0.2
    /// Round trips before the end from which no bytes are left for corrections.
    private static let correctedTrips = 24.0

    /// Returns the next order for a connection that ``tick(at:)`` opened or that has ended a request.
    package mutating func next(for id: ConnectionID, at now: Duration) -> Order {
        guard connections[id]?.isCut == false else { return .leave }
        change(id) {
            $0.activity = .idle
            $0.yields = false
        }
        planner.release(id)
        switch phase {
        case .finishing, .failing, .ended, .waiting: return .leave
        case .reopening(let reason): return connections.count == 1 ? .restart(reason) : .leave
        case .opening: return openingOrder(id, at: now)
        case .running: return runningOrder(id, at: now)
        }
    }

    private mutating func openingOrder(_ id: ConnectionID, at now: Duration) -> Order {
        if let error = sources.refutation { return searchOrder(id, error) }
        guard let source = sources.best else {
            end(sources.deadEnd ?? DownloadError(.refused, ErrorPhrase(.noSourceLeft)))
            return .leave
        }
        let isUnproven = mustProve(source)
        if planner.isComplete, !isUnproven || !settings.doubtsHeld && !file.isExamined {
            enter(.finishing)
            return .leave
        }
        if isUnproven, !planner.written.isEmpty { return prove(source, on: id) }
        var fetch = Fetch(
            ask: .whole, ifRange: nil, unless: nil, source: source, fromOriginal: sources[source].fromOriginal)
        switch ResumePolicy.opening(held: held(from: source), rules: rules) {
        case .whole:
            fetch.unless = source == 0 ? file.finished : nil
        case .restart(let reason):
            if source != sources.primary {
                drop(source, reason)
                return openingOrder(id, at: now)
            }
            return mayRestart(reason, isChange: false) ? .restart(reason) : .leave
        case .goOn(let validator):
            if file.asksWhole { break }
            guard let gap = openingGap() else { return .leave }
            fetch.ask = planner.total == nil ? .from(gap.lowerBound) : .range(gap)
            fetch.ifRange = sources[source].sendsIfRange ? validator : nil
        }
        return send(fetch, on: id, at: now)
    }

    private mutating func runningOrder(_ id: ConnectionID, at now: Duration) -> Order {
        let others = connections.filter { $0.key != id && !$0.value.isCut }
        let isWanted = others.count < policy.ceiling && hasWorkForReaders(at: now)
        guard others.count < policy.target || isWanted || hasStalled(at: now) else { return .leave }
        guard others.isEmpty || allowsParts else { return .leave }
        let canProve = planner.writtenBytes >= SamplePlan.allBelow
        let used = others.values.map(\.source)
        guard let source = sources.leastUsed(by: used, unproven: canProve) else { return .leave }
        if mustProve(source) { return prove(source, on: id) }
        guard let range = share(id, at: now) else { return .leave }
        let known = held(from: source).identity
        let fetch = Fetch(
            ask: .range(range), ifRange: sources[source].sendsIfRange ? known.strongValidator : nil, unless: nil,
            source: source, fromOriginal: sources[source].fromOriginal)
        return send(fetch, on: id, at: now)
    }

    /// Whether samples are compared before bytes of the source are joined. A digest tells that bytes are wrong, but not
    /// of which source, so it replaces the samples only for a doubtful part file.
    private func mustProve(_ source: Int) -> Bool {
        sources[source].trust == .unproven && (!rules.hasDigest || source != sources.primary || settings.isNewSource)
    }

    mutating func prove(_ source: Int, on id: ConnectionID) -> Order {
        connections[id]?.source = source
        return .prove(source: source)
    }

    private mutating func send(_ fetch: Fetch, on id: ConnectionID, at now: Duration) -> Order {
        change(id) {
            $0.activity = .asking(fetch, since: now)
            $0.source = fetch.source
            $0.demand = .asking
            $0.lastByte = now
        }
        return .fetch(fetch)
    }

    /// Assigns missing bytes to a connection: those of readers first, then unassigned ones, else the tail of another's
    /// segment.
    private mutating func share(_ id: ConnectionID, at now: Duration) -> Range<ByteCount>? {
        if let range = shareForReaders(id, size: segmentSize(for: id), at: now) { return range }
        let streams = Set(connections.keys.filter { goesOn($0, at: now) })
        if let range = planner.assign(id, size: segmentSize(for: id), besides: streams) { return range }
        guard let (victim, boundary) = tail(for: id, at: now) else { return nil }
        planner.bound(victim, to: boundary)
        // Increase the patience with a slow server, or each request would lose its segment before the response.
        if let connection = connections[victim], connection.body == nil { latency.increasePatience() }
        return planner.assign(id, size: segmentSize(for: id), besides: streams)
    }

    /// Whether the connection receives a response, and will go on with it after its segment.
    private func goesOn(_ id: ConnectionID, at now: Duration) -> Bool {
        guard let connection = connections[id], connection.body != nil else { return false }
        return !connection.isCut && !connection.yields && !isQuiet(connection, at: now)
    }

    /// Whether a connection opened now would have bytes to fetch.
    func hasWork(at now: Duration) -> Bool { !planner.unassigned.isEmpty || tail(for: nil, at: now) != nil }

    /// Returns the segment size: six seconds at the connection's speed, within bounds, at most its fair share of what is
    /// missing.
    private func segmentSize(for id: ConnectionID) -> ByteCount {
        let pace = pace(with: id)
        let usual = Self.usualSegment
        let speed = connections[id]?.speed ?? 0
        let wanted = min(max(speed * 6, Double(usual.lowerBound)), Double(usual.upperBound))
        let fair: Double
        if speed > 0 {
            // Speeds change: while much is missing, a part of it is left for corrections.
            fair = speed * pace.seconds * (pace.seconds > pace.trip * Self.correctedTrips ? 0.6 : 1)
        } else {
            // Connections that have a segment will need less of the rest than those that have none.
            let busy = Double(planner.segments.count)
            fair = Double(planner.unassigned.byteCount) / (max(1, Double(policy.target) - busy) + busy / 2)
        }
        // A request costs a round trip.
        let worth = ByteCount(min(speed * pace.trip * 4, wanted))
        let least = speed > 0 ? max(ByteCount(leastSteal(speed)), worth) : Self.smallestSegment
        return max(least, ByteCount(min(wanted, fair)))
    }

    /// When all would be done at the same time.
    private struct Pace {
        /// The speed of a connection that has not delivered yet: the average of the others.
        var usual: Double
        var trip: Double
        /// The time until all missing bytes are fetched by all connections, the other one among them.
        var seconds: Double
        /// What the other one fetches in that time.
        var share: Double

        func speed(_ connection: Connection?) -> Double {
            connection.map { $0.speed > 0 ? $0.speed : usual } ?? usual
        }
    }

    /// Returns the pace of all connections, `other` among them; `nil` is one that is not open yet.
    private func pace(with other: ConnectionID?) -> Pace {
        let speeds = connections.values.filter { $0.speed > 0 }.map(\.speed)
        let trip = max(latency.roundTrip.seconds, 0.02)
        var pace = Pace(
            usual: max(1, speeds.reduce(0, +) / Double(max(1, speeds.count))), trip: trip, seconds: 0, share: 0)
        let connection = other.flatMap { connections[$0] }
        // A new connection delivers after its set-up and a slow start, one in use after a round trip.
        let delay = connection?.isNew == false ? trip : latency.setUp.seconds + 4 * trip
        var sum = pace.speed(connection)
        var bytes = Double(planner.unassigned.byteCount) + delay * sum
        for (id, segment) in planner.segments where id != other && segment.remaining > 0 {
            sum += pace.speed(connections[id])
            bytes += Double(segment.remaining)
        }
        pace.seconds = bytes / sum
        pace.share = (pace.seconds - delay) * pace.speed(connection)
        return pace
    }

    /// The tail that a connection may take from the segment that would be done last; `nil` if that does not pay.
    ///
    /// Also decides for a connection that is not open yet (`thief` is `nil`): if the two results differed, connections
    /// would be opened without work, endlessly.
    private func tail(for thief: ConnectionID?, at now: Duration) -> (ConnectionID, ByteCount)? {
        let pace = pace(with: thief)
        var best: (id: ConnectionID, boundary: ByteCount, seconds: Double)?
        for (id, segment) in planner.segments where id != thief && segment.remaining > 0 {
            guard let victim = connections[id] else { continue }
            let isQuiet = isQuiet(victim, at: now)
            let seconds = isQuiet ? .infinity : Double(segment.remaining) / pace.speed(victim)
            if let best, (best.seconds, best.id.rawValue) >= (seconds, id.rawValue) { continue }
            let boundary = isQuiet ? segment.position : boundary(victim, segment, pace)
            if let boundary { best = (id, boundary, seconds) }
        }
        return best.map { ($0.id, $0.boundary) }
    }

    /// The minimum number of bytes that a request is worth at this speed.
    private func leastSteal(_ speed: Double) -> Double {
        let wanted = speed * max(Self.leastStolenSeconds, latency.roundTrip.seconds)
        return min(max(wanted, Double(Self.smallestSteal.lowerBound)), Double(Self.smallestSteal.upperBound))
    }

    /// Returns the offset at which the segment of a delivering connection is split, so that all are done at the same
    /// time.
    private func boundary(_ victim: Connection, _ segment: SegmentPlanner.Segment, _ pace: Pace) -> ByteCount? {
        guard let body = victim.body else { return nil }
        let speed = pace.speed(victim)
        var even = speed * pace.seconds
        if body.isProbe, segment.end == segment.askedEnd {
            // All the others will take from the first stream, which runs to the end of the file.
            even = min(even, Double(segment.remaining) * Self.firstShare)
        } else {
            even = max(even, Double(segment.remaining) - pace.share)
        }
        // What is in flight would be sent in vain.
        let inFlight = victim.speed * pace.trip
        let kept = ByteCount(min(max(even, inFlight * 2), Double(segment.remaining)))
        let taken = segment.remaining - kept
        guard Double(taken) >= max(leastSteal(speed), inFlight) else { return nil }
        return segment.position + kept
    }

    /// Whether the connection has received nothing for the patience of ``latency`` while it was reading.
    func isQuiet(_ connection: Connection, at now: Duration) -> Bool {
        connection.isAsking && now - connection.lastByte >= latency.patience
    }

    /// Whether a connection is quiet while another is not, or all are silent, or a single connection has no response
    /// although the server responded before: a server with one worker may be waiting for the next request on a kept-alive
    /// connection.
    func hasStalled(at now: Duration) -> Bool {
        let quiet = connections.values.filter { !$0.isCut && isQuiet($0, at: now) }
        guard !quiet.isEmpty else { return false }
        return connections.values.contains { !isQuiet($0, at: now) } || areSilent(at: now)
            || file.representation != nil && quiet.allSatisfy { $0.body == nil } && quiet.count == 1
    }

    /// Whether all connections have delivered, and none does any more.
    ///
    /// The line may have been gone, or a router on it may have forgotten the connections. A sender repeats what was lost
    /// after intervals that double, so it goes on as late as the line was gone for; a new connection goes on at once.
    func areSilent(at now: Duration) -> Bool {
        var count = 0
        for connection in connections.values where !connection.isCut {
            guard isSilent(connection, at: now) else { return false }
            count += 1
        }
        return count > 0
    }

    /// Whether the connection has delivered, over a line, and has been quiet for a thirtieth of the stall timeout (2 s of
    /// 60 s) too.
    private func isSilent(_ connection: Connection, at now: Duration) -> Bool {
        connection.hasDelivered && !latency.isBeside && isQuiet(connection, at: now)
            && now - connection.lastByte >= settings.stallTimeout / Self.silentShare
    }

    /// Returns the connection that a new one replaces: a new one that is not answered while all others are silent,
    /// because the intervals of TCP's attempts to connect double, too; and if no more may be open, one of several silent
    /// ones, or one that is quiet although a later request is answered.
    func lostConnection(at now: Duration) -> ConnectionID? {
        guard phase == .running, joinsParts, connections.values.allSatisfy({ !$0.isCut }) else { return nil }
        let quiet = connections.filter { isSilent($0.value, at: now) }
        guard let oldest = quiet.min(by: { $0.value.lastByte < $1.value.lastByte }) else { return nil }
        let others = connections.filter { quiet[$0.key] == nil }
        if others.count == 1, let other = others.first {
            let isUnanswered = other.value.body == nil && other.value.request != nil
            if isUnanswered { return now - other.value.lastByte >= latency.patience * 2 ? other.key : nil }
        }
        guard connections.count >= min(settings.maxConnections, policy.ceiling) else { return nil }
        let isOvertaken = others.values.contains { other in
            other.body != nil && other.bytes > 0 && !isQuiet(other, at: now)
                && other.request.map { $0.since > oldest.value.lastByte } == true
        }
        return isOvertaken || others.isEmpty ? oldest.key : nil
    }
}
