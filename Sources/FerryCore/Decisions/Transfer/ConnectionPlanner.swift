/// Which connections of a transfer are open, and which bytes each of them fetches.
///
/// It owns the connections and the plan of bytes. What the file is, it does not know: its owner says with ``Terms`` whether
/// other connections may join the first one. What a response or an end means for the download is not decided here.
///
/// A new connection gets missing bytes that nobody fetches, else the tail of the segment that would be done last. The number
/// of connections follows the speed (``ConnectionCountPolicy``), patience follows the answers (``ResponseLatency``), and the
/// bytes that readers wait for come first (``TransferReaders``).
struct ConnectionPlanner: Sendable {
    /// What the user allows.
    struct Limits: Sendable {
        var maxConnections: Int
        /// A connection that receives fewer than ``stallBytes`` in this time, back-pressure excluded, is cancelled.
        var stallTimeout: Duration
        var stallBytes: ByteCount
        /// A connection that receives fewer in that time is replaced; 0 for any speed.
        var leastBytes: ByteCount
    }

    /// What is known of the file, as far as it concerns the connections.
    struct Terms {
        /// Whether the identity of the file is settled, so that others may join.
        var isRunning: Bool
        /// Whether the responses of several connections are parts of one file.
        var joinsParts: Bool
        /// Whether a response has described the file since the transfer began, or began again.
        var hasRepresentation: Bool
    }

    typealias Command = TransferMachine.Command

    /// Bytes of a segment while much is missing; towards the end segments are smaller.
    private static let usualSegment: ClosedRange<ByteCount> = (8 << 20)...(64 << 20)
    private static let smallestSegment: ByteCount = 512 << 10
    /// The part of the stall timeout after which a connection that has delivered is silent.
    private static let silentShare = 30
    /// The minimum number of bytes to take from another connection's segment: of a slow one, and of a fast one.
    private static let smallestSteal: ClosedRange<ByteCount> = (32 << 10)...(128 << 10)
    /// The time for which a connection receives what it takes from another, at least.
    private static let leastStolenSeconds = 0.1
    /// The share of the file that the first stream keeps when others join: they take time to become as fast.
    private static let firstShare = 0.2
    /// Round trips before the end from which no bytes are left for corrections.
    private static let correctedTrips = 24.0
    /// The distance from a reader at which a missing byte is urgent.
    private static let urgentDistance: ByteCount = 1 << 20
    /// The time in which a connection is worth waiting for, in addition to the set-up of another one.
    private static let patienceOfReaders = 0.25

    private var limits: Limits
    private var all: [ConnectionID: Connection] = [:]
    /// Which bytes are written, claimed, and assigned to a connection.
    private(set) var bytes: SegmentPlanner
    private(set) var readers = TransferReaders()
    private(set) var arrivals = Arrivals()
    private var openings = Openings()
    private var policy: ConnectionCountPolicy
    private var latency: ResponseLatency
    /// What limits the speed.
    private var bottlenecks = BottleneckPolicy()

    init(_ limits: Limits, bytes: SegmentPlanner) {
        self.limits = limits
        self.bytes = bytes
        policy = ConnectionCountPolicy(limit: limits.maxConnections)
        latency = ResponseLatency(mostPatience: limits.stallTimeout)
    }

    // MARK: Questions

    subscript(id: ConnectionID) -> Connection? { all[id] }

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }
    /// The number of connections that receive a body.
    var activeCount: Int { all.values.count { $0.body != nil && !$0.isCut } }
    /// The sum of their speeds in bytes per second.
    var speed: Double { all.values.reduce(0) { $0 + $1.speed } }
    var maxConnections: Int { limits.maxConnections }
    var isSingle: Bool { policy.isSingle }
    var waitsForPermit: Bool { all.values.contains(where: \.waitsForPermit) }
    /// Whether samples are compared, and no connection has a request for bytes of the file.
    var comparesOnly: Bool { all.values.contains(where: \.isComparing) && all.values.allSatisfy(\.isIdle) }

    /// Whether the first bytes of a file have arrived since the last tick: others may join at once.
    var areUrgent: Bool { openings.areUrgent }

    /// All connections, the oldest first.
    var ids: [ConnectionID] { all.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether all other connections that may still deliver wait for their servers, not for us.
    func areAsking(besides id: ConnectionID) -> Bool {
        all.allSatisfy { $0.key == id || $0.value.isCut || $0.value.isAsking }
    }

    /// The number of other connections that may still deliver.
    func others(than id: ConnectionID) -> Int { all.count { $0.key != id && !$0.value.isCut } }

    /// Whether another connection that may still deliver has had no response yet.
    func hasNew(besides id: ConnectionID) -> Bool { all.contains { $0.key != id && !$0.value.isCut && $0.value.isNew } }

    /// Whether a response that is being read will be verified with its digest.
    var isChecking: Bool { all.values.contains { $0.body?.isChecked == true && !$0.isCut } }

    /// Whether a connection still reads the response that settled the identity; the download ends only with it.
    var isProbing: Bool { all.values.contains { $0.body?.isProbe == true && !$0.isCut } }

    /// The sources of several connections that deliver; none while one of them is ending.
    var sourcesInUse: Set<Int> {
        guard all.count > 1, all.values.allSatisfy({ !$0.isCut }) else { return [] }
        return Set(all.values.map(\.source))
    }

    /// Whether several connections may fetch parts of this file (RFC 9110 §15.3.7.3).
    private func allows(_ terms: Terms) -> Bool { limits.maxConnections > 1 && terms.joinsParts }

    // MARK: Bytes

    /// The file is this long.
    mutating func learn(total: ByteCount) { bytes.learn(total: total) }
    /// The length was only assumed.
    mutating func forgetTotal() { bytes.forgetTotal() }
    /// Begins with these bytes: none of a new file, or all of an existing one.
    mutating func replaceBytes(by new: SegmentPlanner) { bytes = new }
    /// Discards written bytes, which are withheld until ``allow(_:)``.
    mutating func forget(_ ranges: RangeSet<ByteCount>) {
        bytes.forget(ranges)
        readers.refute(ranges)
    }
    /// The journal claims none of the forgotten bytes any more.
    mutating func allow(_ ranges: RangeSet<ByteCount>) { bytes.allow(ranges) }
    /// The journal claims these bytes.
    mutating func claim(_ snapshot: RangeSet<ByteCount>) { bytes.claim(snapshot) }
    /// A sync failed: what no journal claims is not to be trusted.
    mutating func forgetUnclaimed() { bytes.forgetUnclaimed() }

    /// Counts received bytes that are not stored, such as samples.
    mutating func receivedElsewhere(_ count: ByteCount) { arrivals.add(count) }

    /// Places the next `count` bytes of a connection's body. Call again for the rest if the placement covers fewer.
    mutating func place(_ count: ByteCount, on id: ConnectionID) -> SegmentPlanner.Placement {
        guard let connection = all[id], !connection.isCut else { return .stop }
        let placement = bytes.place(id, count: count)
        if case .stop = placement, !connection.yields, bytes.extend(id) { return bytes.place(id, count: count) }
        return placement
    }

    /// Records received bytes. Returns the source of the connection.
    mutating func arrived(_ count: ByteCount, on id: ConnectionID, at now: Duration) -> Int? {
        arrivals.add(count)
        let (enough, least) = (limits.stallBytes, max(limits.stallBytes, limits.leastBytes))
        var (hasBrought, isBeginning, wait, trip) = (false, false, Duration.zero, 0.0)
        let source: Int? = change(id) { connection in
            connection.bytes += count
            if connection.bytes - connection.broughtBytes >= enough {
                connection.broughtBytes = connection.bytes
                hasBrought = true
            }
            if connection.bytes - connection.markBytes >= least {
                connection.markBytes = connection.bytes
                connection.markTime = now
            }
            if connection.isAsking {
                wait = now - connection.lastByte
                trip = connection.shortestTrip
                connection.demand = .paused(since: now)
            }
            connection.receives(count)
            if let body = connection.body, body.isProbe, body.bytes == count { isBeginning = true }
            connection.tickBytes += count
            connection.lastByte = now
            return connection.source
        }
        bottlenecks.arrived(count, after: wait.seconds, trip: trip, at: now)
        if hasBrought { arrivals.brought(at: now) }
        if isBeginning, policy.target > 1 { openings.areUrgent = true }
        return source
    }

    /// Records that the write of ``place(_:on:)`` has returned. Returns the bytes that count as written
    /// now; `nil` if a sync has failed since the write began.
    mutating func wrote(on id: ConnectionID) -> Range<ByteCount>? { bytes.wrote(id) }

    mutating func writeFailed(on id: ConnectionID) { bytes.writeFailed(id) }

    /// Reading resumes: the stall timer runs from here. Returns `false` if the connection is to be cancelled instead,
    /// because its segment is done and the server is sending bytes that belong to others.
    ///
    /// - Parameter limited: How long it was suspended because of a rate limit.
    mutating func asks(_ id: ConnectionID, at now: Duration, limited: Duration) -> Bool {
        let pause: Duration? = change(id) { connection in
            guard case .paused(let since) = connection.demand else { return .zero }
            connection.demand = .asking
            // Exclude time during which we applied back-pressure.
            let pause = now - since
            connection.markTime += pause
            connection.lastByte = now
            return pause
        }
        if let pause { arrivals.exclude(pause, at: now) }
        bottlenecks.present.times.limited += limited.seconds
        bottlenecks.present.times.stored += max(0, ((pause ?? .zero) - limited).seconds)
        guard let segment = bytes.segments[id] else { return false }
        if segment.position < segment.end || segment.end >= segment.askedEnd { return true }
        return all[id]?.yields != true && bytes.extend(id)
    }

    // MARK: A connection's life

    /// Opens a connection.
    private mutating func open(at now: Duration) -> Command {
        let id = openings.newID()
        all[id] = Connection(at: now)
        return .open(id)
    }

    /// The connection is between two requests, and has no bytes to fetch.
    mutating func idles(_ id: ConnectionID) {
        change(id) {
            $0.activity = .idle
            $0.yields = false
        }
        bytes.release(id)
    }

    /// The connection waits for other downloads, not for the server.
    mutating func waitsForPermit(_ id: ConnectionID) { change(id) { $0.activity = .waitingForPermit } }

    /// The connection compares samples with this source.
    mutating func proves(_ source: Int, on id: ConnectionID) {
        change(id) {
            $0.activity = .comparing
            $0.source = source
        }
    }

    /// The connection sends a request.
    mutating func sends(_ fetch: TransferMachine.Fetch, on id: ConnectionID, at now: Duration) {
        change(id) {
            $0.activity = .asking(fetch, since: now)
            $0.source = fetch.source
            $0.demand = .asking
            $0.lastByte = now
        }
    }

    /// A head has come that can be judged only with the first bytes of the body; the stall timer starts.
    mutating func awaitsFirstBytes(on id: ConnectionID, at now: Duration) {
        change(id) {
            $0.body = Connection.Body(kind: .unjudged)
            $0.demand = .asking
            $0.mark(at: now)
        }
    }

    /// The head of a response has come. Returns the request that it answers; `nil` if nobody waits for it any more.
    mutating func headArrived(on id: ConnectionID, at now: Duration) -> TransferMachine.Fetch? {
        guard let connection = all[id], !connection.isCut, let (fetch, since) = connection.request else { return nil }
        latency.record(now - since, isFirst: connection.isNew)
        bottlenecks.present.times.firstByte = max(bottlenecks.present.times.firstByte, (now - since).seconds)
        change(id) {
            $0.mark(at: now)
            $0.lastByte = now
            $0.demand = .asking
            $0.isNew = false
        }
        return fetch
    }

    /// The body of a range of the file is read, which ends at `end`.
    mutating func readsRange(on id: ConnectionID, to end: ByteCount) {
        bytes.answered(id, to: end)
        reads(Connection.Body(kind: .range), on: id)
    }

    /// The rest of the file is read: this range.
    mutating func readsRest(on id: ConnectionID, _ range: Range<ByteCount>) {
        bytes.assignStream(id, from: range.lowerBound, asked: range.upperBound)
        reads(Connection.Body(kind: .rest), on: id)
    }

    /// The file is read from byte 0; `isPlaced` tells whether the driver has storage for it.
    mutating func readsWhole(on id: ConnectionID, total: ByteCount?, isPlaced: Bool) {
        bytes.assignStream(id, from: 0, asked: total ?? .max)
        reads(Connection.Body(kind: .whole, isPlaced: isPlaced), on: id)
    }

    private mutating func reads(_ body: Connection.Body, on id: ConnectionID) {
        change(id) {
            $0.body = body
            $0.misfits = 0
        }
    }

    /// The response will be verified with its digest.
    mutating func checks(_ id: ConnectionID) { all[id]?.body?.isChecked = true }

    /// A response was unusable. Returns how many were, one after the other.
    mutating func countMisfit(on id: ConnectionID) -> Int {
        change(id) {
            $0.misfits += 1
            return $0.misfits
        } ?? 0
    }

    mutating func forgetMisfits(of id: ConnectionID) { all[id]?.misfits = 0 }

    /// The request of a connection has ended. Returns what the connection and its segment were before.
    mutating func ended(_ id: ConnectionID, isComplete: Bool) -> (Connection, SegmentPlanner.Segment?)? {
        guard let connection = all[id] else { return nil }
        defer { bytes.release(id) }
        change(id) {
            // A response that is left before its end takes its connection with it: the next one begins slowly.
            if !isComplete, $0.body != nil { ($0.isNew, $0.speed) = (true, 0) }
            $0.activity = .idle
        }
        return (connection, bytes.segments[id])
    }

    /// Takes its segment from a connection; the unwritten bytes are unassigned.
    mutating func release(_ id: ConnectionID) { bytes.release(id) }

    /// The task of the connection has ended.
    mutating func left(_ id: ConnectionID) {
        bytes.release(id)
        all[id] = nil
    }

    /// Cancels a connection. The first reason stays, but an abandoned connection fails for no other.
    mutating func cut(_ id: ConnectionID, _ reason: Connection.Cut.Reason = .superseded) {
        change(id) { connection in
            if connection.cut == nil || reason == .abandoned { connection.cut = .init(connection.cut, reason) }
        }
    }

    /// Cancels all connections, except `kept`.
    mutating func cutAll(_ reason: Connection.Cut.Reason = .superseded, besides kept: ConnectionID? = nil) {
        for id in all.keys where id != kept { cut(id, reason) }
    }

    /// Cancels all connections. Returns the commands for those that the driver does not know of yet.
    mutating func stop() -> [Command] {
        var commands: [Command] = []
        for id in ids where all[id]?.cut?.isSent != true { tell(id, .superseded, &commands) }
        return commands
    }

    /// Cancels a connection that its host does not take now. The server is not blamed, and the next one is opened after a
    /// second.
    mutating func giveUp(_ id: ConnectionID, at now: Duration) {
        cut(id, .abandoned)
        policy.withheld(working: others(than: id))
        delay(until: now + .seconds(1))
    }

    /// Ends the newest connection to one of these sources in the middle of its response; the last connection stays.
    mutating func makeRoom(at sources: Set<Int>, now: Duration) {
        let found = all.filter { sources.contains($0.value.source) && !$0.value.isCut }.keys
        guard let id = found.max(by: { $0.rawValue < $1.rawValue }), others(than: id) > 0 else { return }
        giveUp(id, at: now)
    }

    /// Changes one connection with a single dictionary look-up.
    @discardableResult
    private mutating func change<Value>(_ id: ConnectionID, _ body: (inout Connection) -> Value) -> Value? {
        guard let index = all.index(forKey: id) else { return nil }
        return body(&all.values[index])
    }

    // MARK: How many

    /// Until then no further connection is opened.
    mutating func delay(until time: Duration) { openings.delay(until: time) }

    /// The network has changed: cancels all connections, and delays no new one.
    mutating func reconnects(at now: Duration) {
        cutAll(.abandoned)
        openings.notBefore = now
    }

    /// Changes the user's limit. Connections above it are cancelled, newest first.
    mutating func set(maxConnections: Int) {
        limits.maxConnections = max(1, maxConnections)
        policy.set(limit: limits.maxConnections)
        var count = all.values.count { !$0.isCut }
        for id in ids.reversed() where count > limits.maxConnections && all[id]?.isCut == false {
            cut(id)
            count -= 1
        }
    }

    /// Another file begins: nothing is known of what its server bears.
    mutating func resetCount() { policy = ConnectionCountPolicy(limit: limits.maxConnections) }

    /// The identity of the file is settled.
    mutating func settled(_ terms: Terms) {
        if !terms.joinsParts { policy.limitToSingleConnection() }
        if allows(terms) { policy.began(roundTrip: latency.roundTrip, left: bytes.remainingBytes ?? 0) }
    }

    mutating func limitToSingleConnection() { policy.limitToSingleConnection() }

    /// The server refused one of several connections, while `working` others work.
    mutating func objected(working: Int) { policy.objected(working: working) }

    // MARK: Ticks

    /// Measures, and returns the cuts that are due, with the numbers of those connections that have stalled or are too slow.
    mutating func watch(
        at now: Duration, _ terms: Terms
    ) -> (commands: [Command], cut: (stalled: Int, slow: Int)) {
        openings.areUrgent = false
        var commands: [Command] = []
        if arrivals.measuredAt.map({ now - $0 >= TransferMachine.tickInterval }) ?? true {
            let arrived = measure(at: now, terms)
            commands += reconnections(arrived, at: now, terms)
        }
        let cut = cutStalled(at: now, &commands)
        commands += cutUnanswered(at: now, terms)
        if let lost = lostConnection(at: now, terms) { tell(lost, .superseded, &commands) }
        return (commands, cut)
    }

    /// Opens a connection, if there is none.
    mutating func openFirst(at now: Duration) -> [Command] { all.isEmpty ? [open(at: now)] : [] }

    /// Opens further connections while that is worth it, and leads some to the bytes that readers wait for.
    mutating func openMore(at now: Duration, _ terms: Terms) -> [Command] {
        defer { redirectToReaders(at: now, terms) }
        guard terms.isRunning, now >= openings.notBefore, allows(terms) else { return [] }
        // Storage for the file is being prepared: bytes of other connections would go to the old file, or nowhere.
        if all.values.contains(where: { $0.body?.isPlaced == false }) { return [] }
        let count = all.values.count { !$0.isCut }
        let hasStalled = hasStalled(at: now, terms)
        let isHeld = all.values.contains { $0.body == nil && !$0.isCut } && policy.target <= 2 && !hasStalled
        // A reader that waits is worth another connection.
        let unserved = unservedReaders(at: now, terms)
        let target = max(policy.target + (hasStalled ? 1 : 0), min(count + unserved, policy.ceiling))
        // A cut connection counts against the limit until its task has ended: the server still sees it.
        let wanted = min(target, limits.maxConnections - (all.count - count))
        guard count < wanted, !isHeld && hasWork(at: now) || unserved > 0 else { return [] }
        return (count..<wanted).map { _ in open(at: now) }
    }

    /// Returns the bytes that have arrived on all connections since the last tick.
    private mutating func measure(at now: Duration, _ terms: Terms) -> ByteCount {
        let seconds = arrivals.measure(at: now)
        var sum: ByteCount = 0
        for (id, connection) in all {
            sum += connection.tickBytes
            if connection.body != nil, connection.bytes > 0 {
                let rate = Double(connection.tickBytes) / seconds
                all[id]?.speed = connection.speed == 0 ? rate : connection.speed * 0.8 + rate * 0.2
            }
            all[id]?.tickBytes = 0
        }
        addTimes(at: now)
        guard terms.isRunning, allows(terms) else { return sum }
        let before = policy.target
        policy.tick(
            bytes: sum, delivering: all.values.count { $0.bytes > 0 && !$0.isCut },
            left: bytes.remainingBytes ?? 0, roundTrip: latency.roundTrip,
            isAsking: all.values.allSatisfy { $0.isAsking || $0.isCut })
        if policy.target < before { retireSilent(to: policy.target) }
        return sum
    }

    /// Cancels some connections to a far server when the line has become faster: new ones fill it sooner.
    private mutating func reconnections(_ arrived: ByteCount, at now: Duration, _ terms: Terms) -> [Command] {
        guard terms.isRunning, allows(terms), readers.isEmpty, !policy.hasRefusals,
            latency.roundTrip >= ConnectionCountPolicy.far,
            all.count >= max(ReconnectionPolicy.share, policy.target),
            all.values.allSatisfy({ !$0.isCut && $0.isAsking && $0.bytes > 0 })
        else {
            openings.reconnection.reset()
            return []
        }
        guard openings.reconnection.tick(bytes: arrived, roundTrip: latency.roundTrip) else { return [] }
        // Those that need longest for their segments.
        let candidates = bytes.segments.compactMap { id, segment -> (id: ConnectionID, seconds: Double)? in
            guard let connection = all[id], connection.hasDelivered, connection.body?.isChecked == false,
                connection.speed > 0
            else { return nil }
            return (id, Double(segment.remaining) / connection.speed)
        }
        let slowest = candidates.sorted { ($0.seconds, $0.id.rawValue) > ($1.seconds, $1.id.rawValue) }
        var commands: [Command] = []
        let worth = latency.roundTrip.seconds * 10
        for (id, seconds) in slowest.prefix(all.count / ReconnectionPolicy.share) where seconds > worth {
            tell(id, .superseded, &commands)
            bytes.release(id)
            // The end of these must be sent before the new ones are made, or the server sees more at a time.
            openings.delay(until: now + TransferMachine.tickInterval / 2)
        }
        return commands
    }

    /// Cancels connections above `target` that have no response yet, newest first.
    private mutating func retireSilent(to target: Int) {
        var count = all.values.count { !$0.isCut }
        for (id, connection) in all.sorted(by: { $0.key.rawValue > $1.key.rawValue })
        where count > target && connection.body == nil && connection.bytes == 0 {
            cut(id)
            bytes.release(id)
            count -= 1
        }
    }

    /// Cancels connections that have stalled or are too slow, or have nothing left to read. Returns how many are each.
    private mutating func cutStalled(
        at now: Duration, _ commands: inout [Command]
    ) -> (stalled: Int, slow: Int) {
        var (stalled, slow) = (0, 0)
        for (id, connection) in all {
            if let cut = connection.cut {
                if !cut.isSent { tell(id, .superseded, &commands) }
                continue
            }
            // The remaining bytes of this quiet connection were reassigned, so it has nothing left to read.
            if let segment = bytes.segments[id], segment.position >= segment.end, segment.writing == nil,
                isQuiet(connection, at: now), segment.end < segment.askedEnd
            {
                tell(id, .superseded, &commands)
                continue
            }
            guard connection.body != nil, connection.isAsking, now - connection.markTime >= limits.stallTimeout else {
                continue
            }
            let received = connection.bytes - connection.markBytes
            guard received < max(limits.stallBytes, limits.leastBytes) else {
                change(id) { $0.mark(at: now) }
                continue
            }
            if received < limits.stallBytes { stalled += 1 } else { slow += 1 }
            tell(id, .stalled, &commands)
        }
        return (stalled, slow)
    }

    /// Cancels all connections if a server that answered before answers none of several: it may serve fewer, and count
    /// those that it leaves without an answer.
    private mutating func cutUnanswered(at now: Duration, _ terms: Terms) -> [Command] {
        guard terms.isRunning, terms.hasRepresentation, all.count > 1,
            all.values.allSatisfy({ connection in
                connection.body == nil && !connection.isCut && isQuiet(connection, at: now)
                    && now - connection.lastByte >= latency.patience * 2
            })
        else { return [] }
        latency.increasePatience()
        policy.objected(working: 1)
        var commands: [Command] = []
        for id in ids {
            tell(id, .superseded, &commands)
            bytes.release(id)
        }
        return commands
    }

    /// Cancels a connection and adds the command for the driver.
    private mutating func tell(
        _ id: ConnectionID, _ reason: Connection.Cut.Reason, _ commands: inout [Command]
    ) {
        cut(id, reason)
        all[id]?.cut?.isSent = true
        commands.append(.cut(id))
    }

    // MARK: Shares

    /// Whether the connection may fetch bytes beside the others.
    func mayJoin(_ id: ConnectionID, at now: Duration, _ terms: Terms) -> Bool {
        let count = others(than: id)
        let isWanted = count < policy.ceiling && hasWorkForReaders(at: now, terms)
        guard count < policy.target || isWanted || hasStalled(at: now, terms) else { return false }
        return count == 0 || allows(terms)
    }

    /// The sources of the other connections that may still deliver.
    func sources(besides id: ConnectionID) -> [Int] {
        all.filter { $0.key != id && !$0.value.isCut }.values.map(\.source)
    }

    /// Assigns missing bytes to a connection: those of readers first, then unassigned ones, else the tail of another's
    /// segment.
    mutating func share(_ id: ConnectionID, at now: Duration, _ terms: Terms) -> Range<ByteCount>? {
        if let range = shareForReaders(id, size: segmentSize(for: id), at: now, terms) { return range }
        let streams = Set(all.keys.filter { goesOn($0, at: now) })
        if let range = bytes.assign(id, size: segmentSize(for: id), besides: streams) { return range }
        guard let (victim, boundary) = tail(for: id, at: now) else { return nil }
        bytes.bound(victim, to: boundary)
        // Increase the patience with a slow server, or each request would lose its segment before the response.
        if let connection = all[victim], connection.body == nil { latency.increasePatience() }
        return bytes.assign(id, size: segmentSize(for: id), besides: streams)
    }

    /// Whether the connection receives a response, and will go on with it after its segment.
    private func goesOn(_ id: ConnectionID, at now: Duration) -> Bool {
        guard let connection = all[id], connection.body != nil else { return false }
        return !connection.isCut && !connection.yields && !isQuiet(connection, at: now)
    }

    /// Whether a connection opened now would have bytes to fetch.
    private func hasWork(at now: Duration) -> Bool { !bytes.unassigned.isEmpty || tail(for: nil, at: now) != nil }

    /// Returns the segment size: six seconds at the connection's speed, within bounds, at most its fair share of what is
    /// missing.
    private func segmentSize(for id: ConnectionID) -> ByteCount {
        let pace = pace(with: id)
        let usual = Self.usualSegment
        let speed = all[id]?.speed ?? 0
        let wanted = min(max(speed * 6, Double(usual.lowerBound)), Double(usual.upperBound))
        let fair: Double
        if speed > 0 {
            // Speeds change: while much is missing, a part of it is left for corrections.
            fair = speed * pace.seconds * (pace.seconds > pace.trip * Self.correctedTrips ? 0.6 : 1)
        } else {
            // Connections that have a segment will need less of the rest than those that have none.
            let busy = Double(bytes.segments.count)
            fair = Double(bytes.unassigned.byteCount) / (max(1, Double(policy.target) - busy) + busy / 2)
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
        let speeds = all.values.filter { $0.speed > 0 }.map(\.speed)
        let trip = max(latency.roundTrip.seconds, 0.02)
        var pace = Pace(
            usual: max(1, speeds.reduce(0, +) / Double(max(1, speeds.count))), trip: trip, seconds: 0, share: 0)
        let connection = other.flatMap { all[$0] }
        // A new connection delivers after its set-up and a slow start, one in use after a round trip.
        let delay = connection?.isNew == false ? trip : latency.setUp.seconds + 4 * trip
        var sum = pace.speed(connection)
        var missing = Double(bytes.unassigned.byteCount) + delay * sum
        for (id, segment) in bytes.segments where id != other && segment.remaining > 0 {
            sum += pace.speed(all[id])
            missing += Double(segment.remaining)
        }
        pace.seconds = missing / sum
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
        for (id, segment) in bytes.segments where id != thief && segment.remaining > 0 {
            guard let victim = all[id] else { continue }
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
    private func isQuiet(_ connection: Connection, at now: Duration) -> Bool {
        connection.isAsking && now - connection.lastByte >= latency.patience
    }

    /// Whether a connection is quiet while another is not, or all are silent, or a single connection has no response
    /// although the server responded before: a server with one worker may be waiting for the next request on a kept-alive
    /// connection.
    private func hasStalled(at now: Duration, _ terms: Terms) -> Bool {
        let quiet = all.values.filter { !$0.isCut && isQuiet($0, at: now) }
        guard !quiet.isEmpty else { return false }
        return all.values.contains { !isQuiet($0, at: now) } || areSilent(at: now)
            || terms.hasRepresentation && quiet.allSatisfy { $0.body == nil } && quiet.count == 1
    }

    /// Whether all connections have delivered, and none does any more.
    ///
    /// The line may have been gone, or a router on it may have forgotten the connections. A sender repeats what was lost
    /// after intervals that double, so it goes on as late as the line was gone for; a new connection goes on at once.
    private func areSilent(at now: Duration) -> Bool {
        var count = 0
        for connection in all.values where !connection.isCut {
            guard isSilent(connection, at: now) else { return false }
            count += 1
        }
        return count > 0
    }

    /// Whether the connection has delivered, over a line, and has been quiet for a thirtieth of the stall timeout (2 s of
    /// 60 s) too.
    private func isSilent(_ connection: Connection, at now: Duration) -> Bool {
        connection.hasDelivered && !latency.isBeside && isQuiet(connection, at: now)
            && now - connection.lastByte >= limits.stallTimeout / Self.silentShare
    }

    /// Returns the connection that a new one replaces: a new one that is not answered while all others are silent,
    /// because the intervals of TCP's attempts to connect double, too; and if no more may be open, one of several silent
    /// ones, or one that is quiet although a later request is answered.
    private func lostConnection(at now: Duration, _ terms: Terms) -> ConnectionID? {
        guard terms.isRunning, terms.joinsParts, all.values.allSatisfy({ !$0.isCut }) else { return nil }
        let quiet = all.filter { isSilent($0.value, at: now) }
        guard let oldest = quiet.min(by: { $0.value.lastByte < $1.value.lastByte }) else { return nil }
        let others = all.filter { quiet[$0.key] == nil }
        if others.count == 1, let other = others.first {
            let isUnanswered = other.value.body == nil && other.value.request != nil
            if isUnanswered { return now - other.value.lastByte >= latency.patience * 2 ? other.key : nil }
        }
        guard all.count >= min(limits.maxConnections, policy.ceiling) else { return nil }
        let isOvertaken = others.values.contains { other in
            other.body != nil && other.bytes > 0 && !isQuiet(other, at: now)
                && other.request.map { $0.since > oldest.value.lastByte } == true
        }
        return isOvertaken || others.isEmpty ? oldest.key : nil
    }

    // MARK: Readers

    // A connection that is opened or has ended its segment is assigned the missing bytes of the readers' windows first. If no
    // connection will bring the byte at a reader's position soon, one more is opened within the limits; if none may be opened,
    // the one that would be done last leaves its segment. Where responses cannot be joined, readers wait for the only stream.

    mutating func addReader(of range: Range<ByteCount>) -> ReaderID { readers.add(range) }
    mutating func removeReader(_ id: ReaderID) { readers.remove(id) }
    mutating func waits(_ id: ReaderID, at now: Duration) -> Bool { readers.waits(id, at: now) }
    mutating func received(to end: ByteCount, by id: ReaderID) { readers.received(to: end, by: id) }

    /// Returns the bytes at the position of a reader that are written, at most `most`; `nil` if there are none.
    func available(to id: ReaderID, most: ByteCount) -> Range<ByteCount>? {
        guard let reader = readers[id],
            let run = bytes.written.ranges.first(where: { $0.contains(reader.position) })
        else { return nil }
        let end = min(run.upperBound, reader.end, reader.position + most)
        return reader.position < end ? reader.position..<end : nil
    }

    /// The readers whose bytes can be fetched out of order; the one that has waited longest first.
    private func plannedReaders(_ terms: Terms) -> [TransferReaders.Reader] {
        terms.isRunning && terms.joinsParts && !policy.isSingle ? orderedReaders : []
    }

    private var orderedReaders: [TransferReaders.Reader] {
        if readers.isEmpty { return [] }
        let served = readers.all.filter { !$0.value.isRefuted && $0.value.position < min($0.value.end, bytes.end) }
        func order(_ entry: (key: ReaderID, value: TransferReaders.Reader)) -> (Duration, Int) {
            (entry.value.waitsSince ?? .seconds(Int64.max), entry.key.rawValue)
        }
        return served.sorted { order($0) < order($1) }.map(\.value)
    }

    /// Returns the missing range that the first request of an opening asks for: from the bytes on that a reader wants.
    func openingGap() -> Range<ByteCount>? {
        let gaps = bytes.unassigned.ranges
        for reader in bytes.total == nil ? [] : orderedReaders {
            if let gap = gaps.first(where: { $0.overlaps(reader.window) }) {
                return max(gap.lowerBound, reader.position)..<gap.upperBound
            }
        }
        return gaps.first
    }

    /// The missing bytes that readers need and no connection will bring soon; the longest awaited first.
    private func urgentPositions(at now: Duration, _ terms: Terms) -> [ByteCount] {
        var found: [ByteCount] = []
        for reader in plannedReaders(terms) {
            let window = reader.window.clamped(to: 0..<bytes.end)
            guard let missing = bytes.written.gaps(in: window).ranges.first?.lowerBound,
                missing - reader.position <= Self.urgentDistance, !bytes.withheld.contains(missing),
                !found.contains(missing), !isServed(missing, at: now)
            else { continue }
            found.append(missing)
        }
        return found
    }

    /// Whether a connection that receives bytes, or may still, will bring this byte soon.
    private func isServed(_ byte: ByteCount, at now: Duration) -> Bool {
        let isSilent = all.values.allSatisfy { $0.isCut || isQuiet($0, at: now) }
        return bytes.segments.contains { id, segment in
            if segment.writing?.contains(byte) == true { return true }
            guard let connection = all[id], !connection.isCut, isSilent || !isQuiet(connection, at: now) else {
                return false
            }
            return (segment.position..<max(segment.position, segment.end)).contains(byte)
                && byte - segment.position <= reach(of: connection)
        }
    }

    /// The bytes that a connection brings in the time that another one would need to begin; everything until its speed is
    /// measured, at the next tick.
    private func reach(of connection: Connection) -> ByteCount {
        if connection.speed == 0, connection.body != nil { return TransferReaders.readAhead }
        let delay = latency.setUp.seconds + 4 * latency.roundTrip.seconds + Self.patienceOfReaders
        return max(
            Self.smallestSteal.upperBound, ByteCount(min(connection.speed * delay, Double(TransferReaders.readAhead))))
    }

    /// The number of urgent positions for which no connection is about to ask for its next order.
    private func unservedReaders(at now: Duration, _ terms: Terms) -> Int {
        let urgent = readers.isEmpty ? 0 : urgentPositions(at: now, terms).count
        return urgent == 0 ? 0 : max(0, urgent - all.values.count { !$0.isCut && ($0.yields || $0.isIdle) })
    }

    /// Whether a connection that has ended its segment has bytes to fetch for a reader.
    private func hasWorkForReaders(at now: Duration, _ terms: Terms) -> Bool {
        guard !readers.isEmpty else { return false }
        if !urgentPositions(at: now, terms).isEmpty { return true }
        let unassigned = bytes.unassigned
        return plannedReaders(terms).contains { !unassigned.intersection(RangeSet($0.window)).isEmpty }
    }

    /// Assigns bytes that readers wait for, or will read next; `nil` if others bring them all.
    private mutating func shareForReaders(
        _ id: ConnectionID, size: ByteCount, at now: Duration, _ terms: Terms
    ) -> Range<ByteCount>? {
        guard !readers.isEmpty else { return nil }
        // Several connections share a window in small segments, so that its beginning is there soon.
        let isAlone = readers.all.count == 1 && others(than: id) == 0
        let small = max(Self.smallestSegment, ByteCount(min((all[id]?.speed ?? 0) * 2, Double(size))))
        let size = isAlone ? size : min(size, small)
        for byte in urgentPositions(at: now, terms) {
            free(byte)
            if let range = bytes.assign(id, size: size, in: byte..<byte + 1) { return range }
        }
        for reader in plannedReaders(terms) {
            if let range = bytes.assign(id, size: size, in: reader.window) { return range }
        }
        return nil
    }

    /// Ends the segment of this byte before it.
    private mutating func free(_ byte: ByteCount) {
        for (id, segment) in bytes.segments where segment.position <= byte && byte < segment.end {
            bytes.bound(id, to: byte)
            if segment.position == byte, all[id]?.body == nil { latency.increasePatience() }
        }
    }

    /// Has as many connections leave their segments as readers are unserved.
    private mutating func redirectToReaders(at now: Duration, _ terms: Terms) {
        let count = unservedReaders(at: now, terms)
        guard count > 0 else { return }
        let waited = plannedReaders(terms).map(\.position)
        var candidates: [(id: ConnectionID, seconds: Double)] = []
        for (id, segment) in bytes.segments where segment.remaining > 0 {
            guard let connection = all[id], !connection.isCut, !connection.yields else { continue }
            // It serves a reader itself.
            let reach = segment.position...segment.position + reach(of: connection)
            if waited.contains(where: { reach.contains($0) && $0 < segment.end }) { continue }
            candidates.append((id, connection.speed > 0 ? Double(segment.remaining) / connection.speed : .infinity))
        }
        candidates.sort { ($0.seconds, $0.id.rawValue) > ($1.seconds, $1.id.rawValue) }
        for (id, seconds) in candidates.prefix(count) where seconds > Self.patienceOfReaders {
            guard let segment = bytes.segments[id] else { continue }
            bytes.bound(id, to: segment.position)
            all[id]?.yields = true
        }
    }

    // MARK: What limits the speed

    /// What limits the speed now; `nil` if that is not known.
    var bottleneck: Bottleneck? { bottlenecks.bottleneck }

    /// What was observed since the last judgement.
    var presentFacts: TransferFacts { bottlenecks.present }

    /// Whether ``observed(_:rateLimit:at:)`` is to be called.
    func isObservationDue(at now: Duration) -> Bool { bottlenecks.isDue(at: now) }

    /// Records what the system knows of a connection; `id` is `nil` for requests before there are connections.
    mutating func observed(_ socket: SocketFacts, on id: ConnectionID?) {
        bottlenecks.present.sockets.add(socket)
        if let id, let trip = socket.shortestTrip { all[id]?.shortestTrip = trip.seconds }
        latency.observed(socket.shortestTrip)
    }

    /// Ends the observation of about a second.
    mutating func observed(_ processor: ProcessorFacts?, rateLimit: ByteCount?, at now: Duration) {
        for (id, connection) in all {
            let new = connection.bytes - connection.observedBytes
            if new > 0 { bottlenecks.present.carried[id] = new }
            all[id]?.observedBytes = connection.bytes
        }
        bottlenecks.present.surroundings.processor = processor
        bottlenecks.present.surroundings.rateLimit = rateLimit
        bottlenecks.present.surroundings.ceiling = policy.hasRefusals ? policy.ceiling : nil
        bottlenecks.present.surroundings.gain = policy.lastGain
        addTimes(at: now)
        bottlenecks.observed(at: now)
    }

    /// Adds the time of the connections since the last call.
    private mutating func addTimes(at now: Duration) {
        let seconds = bottlenecks.elapsed(at: now)
        for connection in all.values where !connection.isCut {
            switch connection.activity {
            case .idle, .comparing, .waitingForPermit: break
            case .reading: bottlenecks.present.times.connected += seconds
            case .asking(_, let since):
                bottlenecks.present.times.connected += seconds
                bottlenecks.present.times.awaited += seconds
                bottlenecks.present.times.firstByte = max(
                    bottlenecks.present.times.firstByte, (now - since).seconds)
            }
        }
    }
}

extension ConnectionPlanner {
    /// What has arrived on all connections.
    package struct Arrivals: Sendable {
        /// Bytes of response bodies, including discarded ones.
        package private(set) var bytes: ByteCount = 0
        /// When any connection last had received ``Limits/stallBytes`` more.
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
}
