extension TransferMachine {
    static let smallestSegment: ByteCount = 8 << 20
    static let largestSegment: ByteCount = 64 << 20
    /// Remaining bytes below which another connection is not worth opening.
    static let worthSharing: ByteCount = 16 << 20
    /// The minimum number of bytes to take from another connection's segment.
    static let smallestSteal: ByteCount = 1 << 20

    /// Returns the next order for a connection that ``tick(at:)`` opened or that has ended a request.
    package mutating func next(for id: ConnectionID, at now: Duration) -> Order {
        guard connections[id]?.isCut == false, !isFinishing else { return .leave }
        change(id) { $0.activity = .idle }
        planner.release(id)
        switch phase {
        case .ended, .waiting: return .leave
        case .reopening(let reason): return connections.count == 1 ? .restart(reason) : .leave
        case .opening: return openingOrder(id, at: now)
        case .running: return runningOrder(id, at: now)
        }
    }

    private mutating func openingOrder(_ id: ConnectionID, at now: Duration) -> Order {
        if let refutation { return searchOrder(id, refutation) }
        guard let source = usableSource() else {
            end(deadEnd ?? DownloadError(.refused, ErrorPhrase(.noSourceLeft)))
            return .leave
        }
        let isUnproven = mustProve(source)
        if planner.isComplete, !isUnproven || !settings.doubtsHeld && !isExamining {
            isFinishing = true
            return .leave
        }
        if isUnproven, !planner.written.isEmpty { return prove(source, on: id) }
        var fetch = Fetch(
            ask: .whole, ifRange: nil, unless: nil, source: source, fromOriginal: sources[source].fromOriginal)
        switch ResumePolicy.opening(held: held(from: source), rules: rules) {
        case .whole:
            fetch.unless = source == 0 ? finished : nil
        case .restart(let reason):
            if source != primary {
                drop(source, reason)
                return openingOrder(id, at: now)
            }
            return mayRestart(reason, isChange: false) ? .restart(reason) : .leave
        case .goOn(let validator):
            if openingAsksWhole { break }
            guard let gap = planner.unassigned.ranges.first else { return .leave }
            fetch.ask = planner.total == nil ? .from(gap.lowerBound) : .range(gap)
            fetch.ifRange = sources[source].sendsIfRange ? validator : nil
        }
        return send(fetch, on: id, at: now)
    }

    private mutating func runningOrder(_ id: ConnectionID, at now: Duration) -> Order {
        let others = connections.filter { $0.key != id && !$0.value.isCut }
        guard others.count < policy.target || hasStalled(at: now) else { return .leave }
        guard others.isEmpty || allowsParts else { return .leave }
        guard let source = leastUsedSource(others.values.map(\.source)) else { return .leave }
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
        sources[source].trust == .unproven && (!rules.hasDigest || source != primary || settings.isNewSource)
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

    /// Assigns missing bytes to a connection: unassigned ones first, else the tail of another's segment.
    private mutating func share(_ id: ConnectionID, at now: Duration) -> Range<ByteCount>? {
        let size = segmentSize(for: id)
        if let range = planner.assign(id, size: size) { return range }
        guard let (victim, boundary) = tail(for: id, at: now) else { return nil }
        planner.bound(victim, to: boundary)
        // Increase the patience with a slow server, or each request would lose its segment before the response.
        if let connection = connections[victim], connection.body == nil {
            patience = min(patience * 2, settings.stallTimeout)
        }
        return planner.assign(id, size: size)
    }

    /// Whether a connection opened now would have bytes to fetch.
    func hasWork(at now: Duration) -> Bool { !planner.unassigned.isEmpty || tail(for: nil, at: now) != nil }

    /// Returns the segment size: six seconds at the connection's speed, within bounds, at most a fair share of what is
    /// left.
    func segmentSize(for id: ConnectionID) -> ByteCount {
        let speed = connections[id]?.speed ?? 0
        let wanted = ByteCount(min(speed * 6, Double(Self.largestSegment)))
        let fair = planner.unassigned.byteCount / ByteCount(max(1, policy.target))
        return max(Self.smallestSteal, min(max(wanted, Self.smallestSegment), max(fair, Self.smallestSteal)))
    }

    /// The tail that a connection may take from the segment that would be done last; `nil` if that does not pay.
    ///
    /// Also decides for a connection that is not open yet (`thief` is `nil`): if the two results differed, connections
    /// would be opened without work, endlessly.
    private func tail(for thief: ConnectionID?, at now: Duration) -> (ConnectionID, ByteCount)? {
        let speeds = connections.values.filter { $0.speed > 0 }.map(\.speed)
        // Connections that have not delivered yet are assumed to have the average speed.
        let usual = max(1, speeds.reduce(0, +) / Double(max(1, speeds.count)))
        func speed(_ connection: Connection?) -> Double { connection.map { $0.speed > 0 ? $0.speed : usual } ?? usual }
        var best: (id: ConnectionID, boundary: ByteCount, seconds: Double)?
        for (id, segment) in planner.segments where id != thief && segment.remaining > 0 {
            guard let victim = connections[id] else { continue }
            let isQuiet = isQuiet(victim, at: now)
            let seconds = isQuiet ? .infinity : Double(segment.remaining) / speed(victim)
            if let best, (best.seconds, best.id.rawValue) >= (seconds, id.rawValue) { continue }
            let boundary =
                isQuiet
                ? segment.position
                : boundary(victim, segment, speed: speed(victim), thief: speed(thief.flatMap { connections[$0] }))
            if let boundary { best = (id, boundary, seconds) }
        }
        return best.map { ($0.id, $0.boundary) }
    }

    /// Returns the offset at which the segment of a delivering connection is split.
    private func boundary(
        _ victim: Connection, _ segment: SegmentPlanner.Segment, speed: Double, thief: Double
    ) -> ByteCount? {
        guard segment.remaining >= 2 * Self.smallestSteal else { return nil }
        if victim.body?.isProbe == true, segment.end == segment.askedEnd || segment.remaining > Self.worthSharing {
            // The first stream runs to the end of the file: bound it to a segment like the others.
            let own = max(Self.smallestSegment, ByteCount(min(speed * 4, Double(Self.largestSegment))))
            return segment.position + min(own, segment.remaining / 2)
        }
        let keep = ByteCount(Double(segment.remaining) * min(0.9, max(0.1, speed / (speed + thief))))
        // Half a second of data, which is in flight, stays with the connection that requested it.
        let kept = max(keep, ByteCount(min(speed / 2, Double(segment.remaining))), 256 << 10)
        guard segment.remaining - kept >= Self.smallestSteal else { return nil }
        return segment.position + kept
    }

    /// Whether the connection has received nothing for ``patience`` while it was reading.
    func isQuiet(_ connection: Connection, at now: Duration) -> Bool {
        connection.isAsking && now - connection.lastByte >= patience
    }

    /// Whether a connection is quiet while another is not, or a single connection has no response although the server
    /// responded before: a server with one worker may be waiting for the next request on a kept-alive connection.
    func hasStalled(at now: Duration) -> Bool {
        let quiet = connections.values.filter { !$0.isCut && isQuiet($0, at: now) }
        guard !quiet.isEmpty else { return false }
        return connections.values.contains { !isQuiet($0, at: now) }
            || representation != nil && quiet.allSatisfy { $0.body == nil } && quiet.count == 1
    }

    /// Returns the source with the fewest failures, proven ones first; `nil` when all are dropped.
    func usableSource() -> Int? {
        let usable = sources.indices.filter { sources[$0].trust != .dropped }
        return usable.min { left, right in
            let (one, other) = (sources[left], sources[right])
            if one.failures != other.failures { return one.failures < other.failures }
            if one.trust != other.trust { return one.trust == .proven }
            return left < right
        }
    }

    private func leastUsedSource(_ used: [Int]) -> Int? {
        let usable = sources.indices.filter { index in
            switch sources[index].trust {
            case .proven: true
            case .unproven: planner.writtenBytes >= SamplePlan.allBelow
            case .dropped: false
            }
        }
        let counts = usable.map { index in (index, used.count { $0 == index }) }
        return counts.min { $0.1 < $1.1 }?.0
    }
}
