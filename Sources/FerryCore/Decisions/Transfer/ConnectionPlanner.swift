/// Plans which connections of a transfer are open, and which bytes each of them fetches.
///
/// The planner owns the connections and the assignment of bytes. It does not know the identity of the file: its owner
/// passes ``Terms``, which determine whether other connections may join the first one. The owner also decides what a
/// response or the end of a request means for the download.
///
/// A new connection is assigned missing bytes that no connection fetches, otherwise the tail of the segment that would be
/// finished last. The number of connections depends on the speed (``ConnectionCountPolicy``), the patience with a silent server
/// depends on response times (``ResponseLatency``), and bytes that readers wait for come first (``TransferReaders``).
struct ConnectionPlanner: Sendable {
    /// The limits that the user sets.
    struct Limits: Sendable {
        var maxConnections: Int
        /// A connection that receives fewer than ``stallBytes`` in this time, not counting back-pressure, is cancelled.
        var stallTimeout: Duration
        var stallBytes: ByteCount
        /// A connection that receives fewer bytes in ``stallTimeout`` is replaced; 0 to accept any speed.
        var leastBytes: ByteCount
    }

    /// The facts about the file that affect the connections.
    struct Terms {
        /// Whether the identity of the file is settled, so that other connections may join.
        var isRunning: Bool
        /// Whether the responses of several connections are parts of one file.
        var joinsParts: Bool
        /// Whether a response has described the file since the transfer started or restarted.
        var hasRepresentation: Bool
    }

    typealias Command = TransferMachine.Command

    /// The size of a segment in bytes while many bytes are missing; towards the end, segments are smaller.
    private static let usualSegment: ClosedRange<ByteCount> = (8 << 20)...(64 << 20)
    private static let smallestSegment: ByteCount = 512 << 10
    /// A connection that has delivered counts as silent after the stall timeout divided by this number.
    private static let silentShare = 30
    /// The minimum number of bytes to take from another connection's segment: from a slow connection, and from a fast
    /// one.
    private static let smallestSteal: ClosedRange<ByteCount> = (32 << 10)...(128 << 10)
    /// The minimum time for which a connection should receive the bytes that it takes from another.
    private static let leastStolenSeconds = 0.1
    /// The fraction of the file that the first stream keeps when other connections join, because they need time to
    /// become as fast.
    private static let firstShare = 0.2
    /// The number of round trips before the end at which bytes are no longer reserved for corrections.
    private static let correctedTrips = 24.0
    /// The maximum distance from a reader at which a missing byte is urgent.
    private static let urgentDistance: ByteCount = 1 << 20
    /// The additional time for which it is better to wait for a connection than to set up another one.
    private static let patienceOfReaders = 0.25

    private var limits: Limits
    private var all: [ConnectionID: Connection] = [:]
    /// The state of the bytes: written, claimed, or assigned to a connection.
    private(set) var bytes: SegmentPlanner
    private(set) var readers = TransferReaders()
    private(set) var arrivals = Arrivals()
    private var openings = Openings()
    private var policy: ConnectionCountPolicy
    private var latency: ResponseLatency
    /// The policy that finds the cause that limits the speed.
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
    /// The sum of the active connections' speeds in bytes per second.
    var speed: Double { all.values.reduce(0) { $0 + $1.speed } }
    var maxConnections: Int { limits.maxConnections }
    var isSingle: Bool { policy.isSingle }
    var waitsForPermit: Bool { all.values.contains(where: \.waitsForPermit) }
    /// Whether samples are being compared and no connection is requesting bytes of the file.
    var comparesOnly: Bool { all.values.contains(where: \.isComparing) && all.values.allSatisfy(\.isIdle) }

    /// Whether the first bytes of a file have arrived since the last tick, so that other connections may join at once.
    var areUrgent: Bool { openings.areUrgent }

    /// The identifiers of all connections, oldest first.
    var ids: [ConnectionID] { all.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether all other connections that may still deliver wait for their servers, not for the driver.
    func areAsking(besides id: ConnectionID) -> Bool {
        all.allSatisfy { $0.key == id || $0.value.isCut || $0.value.isAsking }
    }

    /// The number of other connections that may still deliver.
    func others(than id: ConnectionID) -> Int { all.count { $0.key != id && !$0.value.isCut } }

    /// Whether another connection that may still deliver has received no response yet.
    func hasNew(besides id: ConnectionID) -> Bool { all.contains { $0.key != id && !$0.value.isCut && $0.value.isNew } }

    /// Whether a response that is being read will be verified with its digest.
    var isChecking: Bool { all.values.contains { $0.body?.isChecked == true && !$0.isCut } }

    /// Whether a connection is still reading the response that settled the identity; the download cannot end before that
    /// response.
    var isProbing: Bool { all.values.contains { $0.body?.isProbe == true && !$0.isCut } }

    /// The sources of several delivering connections; empty while one of them is ending.
    var sourcesInUse: Set<Int> {
        guard all.count > 1, all.values.allSatisfy({ !$0.isCut }) else { return [] }
        return Set(all.values.map(\.source))
    }

    /// Whether several connections may fetch parts of this file (RFC 9110 §15.3.7.3).
    private func allows(_ terms: Terms) -> Bool { limits.maxConnections > 1 && terms.joinsParts }

    // MARK: Bytes

    /// Sets the length of the file.
    mutating func learn(total: ByteCount) { bytes.learn(total: total) }
    /// Discards the length, which was only assumed.
    mutating func forgetTotal() { bytes.forgetTotal() }
    /// Starts over with these bytes: none for a new file, or all bytes of an existing one.
    mutating func replaceBytes(by new: SegmentPlanner) { bytes = new }
    /// Discards written bytes, which are withheld until ``allow(_:)``.
    mutating func forget(_ ranges: RangeSet<ByteCount>) {
        bytes.forget(ranges)
        readers.refute(ranges)
    }
    /// Releases the forgotten bytes, because the journal no longer claims any of them.
    mutating func allow(_ ranges: RangeSet<ByteCount>) { bytes.allow(ranges) }
    /// Records that the journal claims these bytes.
    mutating func claim(_ snapshot: RangeSet<ByteCount>) { bytes.claim(snapshot) }
    /// Discards all unclaimed bytes, which cannot be trusted after a failed sync.
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

    /// Resumes reading, and with it the stall timer. Returns `false` if the connection should be cancelled instead,
    /// because its segment is done and the server is sending bytes that belong to other segments.
    ///
    /// - Parameter limited: The time for which reading was suspended because of a rate limit.
    mutating func asks(_ id: ConnectionID, at now: Duration, limited: Duration) -> Bool {
        let pause: Duration? = change(id) { connection in
            guard case .paused(let since) = connection.demand else { return .zero }
            connection.demand = .asking
            // The time during which the driver did not read does not count.
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

    // MARK: Connection lifecycle

    /// Opens a connection.
    private mutating func open(at now: Duration) -> Command {
        let id = openings.newID()
        all[id] = Connection(at: now)
        return .open(id)
    }

    /// Records that the connection is between two requests and has no bytes to fetch.
    mutating func idles(_ id: ConnectionID) {
        change(id) {
            $0.activity = .idle
            $0.yields = false
        }
        bytes.release(id)
    }

    /// Records that the connection waits for other downloads, not for the server.
    mutating func waitsForPermit(_ id: ConnectionID) { change(id) { $0.activity = .waitingForPermit } }

    /// Records that the connection compares samples with this source.
    mutating func proves(_ source: Int, on id: ConnectionID) {
        change(id) {
            $0.activity = .comparing
            $0.source = source
        }
    }

    /// Records that the connection sends a request.
    mutating func sends(_ fetch: TransferMachine.Fetch, on id: ConnectionID, at now: Duration) {
        change(id) {
            $0.activity = .asking(fetch, since: now)
            $0.source = fetch.source
            $0.demand = .asking
            $0.lastByte = now
        }
    }

    /// Records a response head that can be judged only with the first bytes of the body; the stall timer starts.
    mutating func awaitsFirstBytes(on id: ConnectionID, at now: Duration) {
        change(id) {
            $0.body = Connection.Body(kind: .unjudged)
            $0.demand = .asking
            $0.mark(at: now)
        }
    }

    /// Records that a response head has arrived. Returns the request that it answers; `nil` if the response is no
    /// longer wanted.
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

    /// Starts reading the body of a response with a range of the file that ends at `end`.
    mutating func readsRange(on id: ConnectionID, to end: ByteCount) {
        bytes.answered(id, to: end)
        reads(Connection.Body(kind: .range), on: id)
    }

    /// Starts reading the rest of the file, which is this range.
    mutating func readsRest(on id: ConnectionID, _ range: Range<ByteCount>) {
        bytes.assignStream(id, from: range.lowerBound, asked: range.upperBound)
        reads(Connection.Body(kind: .rest), on: id)
    }

    /// Starts reading the file from byte 0; `isPlaced` is true if the driver has storage for it.
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

    /// Records that the response will be verified with its digest.
    mutating func checks(_ id: ConnectionID) { all[id]?.body?.isChecked = true }

    /// Counts an unusable response. Returns the number of consecutive ones.
    mutating func countMisfit(on id: ConnectionID) -> Int {
        change(id) {
            $0.misfits += 1
            return $0.misfits
        } ?? 0
    }

    mutating func forgetMisfits(of id: ConnectionID) { all[id]?.misfits = 0 }

    /// Records that the request of a connection has ended. Returns the connection and its segment as they were before.
    mutating func ended(_ id: ConnectionID, isComplete: Bool) -> (Connection, SegmentPlanner.Segment?)? {
        guard let connection = all[id] else { return nil }
        defer { bytes.release(id) }
        change(id) {
            // Stopping a response before its end closes its connection, and the next connection starts slowly.
            if !isComplete, $0.body != nil { ($0.isNew, $0.speed) = (true, 0) }
            $0.activity = .idle
        }
        return (connection, bytes.segments[id])
    }

    /// Removes a connection's segment; its unwritten bytes become unassigned.
    mutating func release(_ id: ConnectionID) { bytes.release(id) }

    /// Removes a connection whose task has ended.
    mutating func left(_ id: ConnectionID) {
        bytes.release(id)
        all[id] = nil
    }

    /// Cancels a connection. The first reason is kept, but `abandoned` replaces any other, because then no failure is
    /// counted.
    mutating func cut(_ id: ConnectionID, _ reason: Connection.Cut.Reason = .superseded) {
        change(id) { connection in
            if connection.cut == nil || reason == .abandoned { connection.cut = .init(connection.cut, reason) }
        }
    }

    /// Cancels all connections, except `kept`.
    mutating func cutAll(_ reason: Connection.Cut.Reason = .superseded, besides kept: ConnectionID? = nil) {
        for id in all.keys where id != kept { cut(id, reason) }
    }

    /// Cancels all connections. Returns the commands for those whose cancellation the driver does not know yet.
    mutating func stop() -> [Command] {
        var commands: [Command] = []
        for id in ids where all[id]?.cut?.isSent != true { tell(id, .superseded, &commands) }
        return commands
    }

    /// Cancels a connection that its host does not accept now. This does not count as a failure of the server, and the
    /// next connection is opened after a second.
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

    /// Changes one connection with a single dictionary lookup.
    @discardableResult
    private mutating func change<Value>(_ id: ConnectionID, _ body: (inout Connection) -> Value) -> Value? {
        guard let index = all.index(forKey: id) else { return nil }
        return body(&all.values[index])
    }

    // MARK: Number of connections

    /// Delays the opening of further connections until this time.
    mutating func delay(until time: Duration) { openings.delay(until: time) }

    /// Cancels all connections because the network has changed. New connections are not delayed.
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

    /// Resets the number of connections for another file, because the limits of its server are unknown.
    mutating func resetCount() { policy = ConnectionCountPolicy(limit: limits.maxConnections) }

    /// Records that the identity of the file is settled.
    mutating func settled(_ terms: Terms) {
        if !terms.joinsParts { policy.limitToSingleConnection() }
        if allows(terms) { policy.began(roundTrip: latency.roundTrip, left: bytes.remainingBytes ?? 0) }
    }

    mutating func limitToSingleConnection() { policy.limitToSingleConnection() }

    /// Records that the server refused one of several connections, while `working` others continue.
    mutating func objected(working: Int) { policy.objected(working: working) }

    // MARK: Ticks

    /// Measures the speeds. Returns the cancellations that are due, and the numbers of connections that have stalled or are too
    /// slow.
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

    /// Opens a connection if there is none.
    mutating func openFirst(at now: Duration) -> [Command] { all.isEmpty ? [open(at: now)] : [] }

    /// Opens further connections while they are worthwhile, and redirects some to the bytes that readers wait for.
    mutating func openMore(at now: Duration, _ terms: Terms) -> [Command] {
        defer { redirectToReaders(at: now, terms) }
        guard terms.isRunning, now >= openings.notBefore, allows(terms) else { return [] }
        // Storage for the file is being prepared. Bytes from other connections would be written to the previous file,
        // or nowhere.
        if all.values.contains(where: { $0.body?.isPlaced == false }) { return [] }
        let count = all.values.count { !$0.isCut }
        let hasStalled = hasStalled(at: now, terms)
        let isHeld = all.values.contains { $0.body == nil && !$0.isCut } && policy.target <= 2 && !hasStalled
        // A waiting reader justifies another connection.
        let unserved = unservedReaders(at: now, terms)
        let target = max(policy.target + (hasStalled ? 1 : 0), min(count + unserved, policy.ceiling))
        // A cancelled connection counts against the limit until its task has ended, because it is still open at the
        // server.
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

    /// Cancels some connections to a distant server when the link has become faster, because new connections use the
    /// capacity sooner.
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
        // The connections that need the longest time for their segments come first.
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
            // These connections must be closed before new ones are opened, because the server would otherwise see too many at a
            // time.
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

    /// Cancels connections that have stalled, are too slow, or have nothing left to read. Returns how many stalled and
    /// how many were too slow.
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

    /// Cancels all connections if a server that has responded before responds to none of several connections. The server may
    /// limit the number of connections, and count those to which it does not respond.
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

    /// Cancels a connection and appends the command for the driver.
    private mutating func tell(
        _ id: ConnectionID, _ reason: Connection.Cut.Reason, _ commands: inout [Command]
    ) {
        cut(id, reason)
        all[id]?.cut?.isSent = true
        commands.append(.cut(id))
    }

    // MARK: Assignment of bytes

    /// Whether the connection may fetch bytes in parallel with the others.
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

    /// Assigns missing bytes to a connection: first those that readers need, then unassigned bytes, otherwise the tail
    /// of another connection's segment.
    mutating func share(_ id: ConnectionID, at now: Duration, _ terms: Terms) -> Range<ByteCount>? {
        if let range = shareForReaders(id, size: segmentSize(for: id), at: now, terms) { return range }
        let streams = Set(all.keys.filter { goesOn($0, at: now) })
        if let range = bytes.assign(id, size: segmentSize(for: id), besides: streams) { return range }
        guard let (victim, boundary) = tail(for: id, at: now) else { return nil }
        bytes.bound(victim, to: boundary)
        // Each request to a slow server would lose its segment before the response if the patience did not grow.
        if let connection = all[victim], connection.body == nil { latency.increasePatience() }
        return bytes.assign(id, size: segmentSize(for: id), besides: streams)
    }

    /// Whether the connection is receiving a response that will continue beyond its segment.
    private func goesOn(_ id: ConnectionID, at now: Duration) -> Bool {
        guard let connection = all[id], connection.body != nil else { return false }
        return !connection.isCut && !connection.yields && !isQuiet(connection, at: now)
    }

    /// Whether a connection opened now would have bytes to fetch.
    private func hasWork(at now: Duration) -> Bool { !bytes.unassigned.isEmpty || tail(for: nil, at: now) != nil }

    /// Returns the segment size: six seconds at the connection's speed, within bounds, and at most its fair share of
    /// the missing bytes.
    private func segmentSize(for id: ConnectionID) -> ByteCount {
        let pace = pace(with: id)
        let usual = Self.usualSegment
        let speed = all[id]?.speed ?? 0
        let wanted = min(max(speed * 6, Double(usual.lowerBound)), Double(usual.upperBound))
        let fair: Double
        if speed > 0 {
            // Speeds change, so a part of the bytes is reserved for corrections while many are missing.
            fair = speed * pace.seconds * (pace.seconds > pace.trip * Self.correctedTrips ? 0.6 : 1)
        } else {
            // Connections that have a segment will need less of the rest than those without one.
            let busy = Double(bytes.segments.count)
            fair = Double(bytes.unassigned.byteCount) / (max(1, Double(policy.target) - busy) + busy / 2)
        }
        // A request costs a round trip.
        let worth = ByteCount(min(speed * pace.trip * 4, wanted))
        let least = speed > 0 ? max(ByteCount(leastSteal(speed)), worth) : Self.smallestSegment
        return max(least, ByteCount(min(wanted, fair)))
    }

    /// The projection in which all connections finish at the same time.
    private struct Pace {
        /// The assumed speed of a connection that has not delivered yet: the average of the others.
        var usual: Double
        var trip: Double
        /// The time until all connections, including the one in question, have fetched all missing bytes.
        var seconds: Double
        /// The bytes that the connection in question fetches in that time.
        var share: Double

        func speed(_ connection: Connection?) -> Double {
            connection.map { $0.speed > 0 ? $0.speed : usual } ?? usual
        }
    }

    /// Returns the pace of all connections including `other`; `nil` stands for a connection that is not open yet.
    private func pace(with other: ConnectionID?) -> Pace {
        let speeds = all.values.filter { $0.speed > 0 }.map(\.speed)
        let trip = max(latency.roundTrip.seconds, 0.02)
        var pace = Pace(
            usual: max(1, speeds.reduce(0, +) / Double(max(1, speeds.count))), trip: trip, seconds: 0, share: 0)
        let connection = other.flatMap { all[$0] }
        // A new connection delivers after its set-up and slow start, an existing one after one round trip.
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

    /// The tail that a connection may take from the segment that would be finished last; `nil` if taking it is not
    /// worthwhile.
    ///
    /// Also decides whether a connection should be opened (`thief` is `nil`). If these two decisions differed, connections
    /// without work would be opened endlessly.
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

    /// The minimum number of bytes that justify a request at this speed.
    private func leastSteal(_ speed: Double) -> Double {
        let wanted = speed * max(Self.leastStolenSeconds, latency.roundTrip.seconds)
        return min(max(wanted, Double(Self.smallestSteal.lowerBound)), Double(Self.smallestSteal.upperBound))
    }

    /// Returns the offset at which the segment of a delivering connection is split, so that all connections finish at
    /// the same time.
    private func boundary(_ victim: Connection, _ segment: SegmentPlanner.Segment, _ pace: Pace) -> ByteCount? {
        guard let body = victim.body else { return nil }
        let speed = pace.speed(victim)
        var even = speed * pace.seconds
        if body.isProbe, segment.end == segment.askedEnd {
            // All other connections will take bytes from the first stream, which continues to the end of the file.
            even = min(even, Double(segment.remaining) * Self.firstShare)
        } else {
            even = max(even, Double(segment.remaining) - pace.share)
        }
        // Bytes that are already in flight would be sent in vain.
        let inFlight = victim.speed * pace.trip
        let kept = ByteCount(min(max(even, inFlight * 2), Double(segment.remaining)))
        let taken = segment.remaining - kept
        guard Double(taken) >= max(leastSteal(speed), inFlight) else { return nil }
        return segment.position + kept
    }

    /// Whether the connection has been reading for ``ResponseLatency/patience`` without receiving anything.
    private func isQuiet(_ connection: Connection, at now: Duration) -> Bool {
        connection.isAsking && now - connection.lastByte >= latency.patience
    }

    /// Whether another connection is needed, in one of three cases: a connection is quiet while another is not; all
    /// connections are silent; or a single connection has no response although the server responded before. In the last
    /// case, a server with one worker may be waiting for the next request on a kept-alive connection.
    private func hasStalled(at now: Duration, _ terms: Terms) -> Bool {
        let quiet = all.values.filter { !$0.isCut && isQuiet($0, at: now) }
        guard !quiet.isEmpty else { return false }
        return all.values.contains { !isQuiet($0, at: now) } || areSilent(at: now)
            || terms.hasRepresentation && quiet.allSatisfy { $0.body == nil } && quiet.count == 1
    }

    /// Whether all connections have delivered, and none delivers now.
    ///
    /// The link may have been interrupted, or a router may have dropped the state of the connections. A sender
    /// retransmits after intervals that double, so after an interruption it may take as long again to resume; a new
    /// connection resumes at once.
    private func areSilent(at now: Duration) -> Bool {
        var count = 0
        for connection in all.values where !connection.isCut {
            guard isSilent(connection, at: now) else { return false }
            count += 1
        }
        return count > 0
    }

    /// Whether the connection has delivered over a link, and has been quiet for at least a thirtieth of the stall timeout (2 s
    /// by default).
    private func isSilent(_ connection: Connection, at now: Duration) -> Bool {
        connection.hasDelivered && !latency.isBeside && isQuiet(connection, at: now)
            && now - connection.lastByte >= limits.stallTimeout / Self.silentShare
    }

    /// Returns the connection that should be replaced by a new one. This is a new connection without a response while all
    /// others are silent, because TCP also doubles the intervals between its connection attempts. If no more connections may be
    /// opened, it is the connection that has been silent for the longest time, if all connections are silent or if another
    /// connection receives the response to a later request.
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

    // A connection that was opened or has finished its segment is first assigned missing bytes in the readers' windows.
    // If no connection will soon deliver the byte at a reader's position, another connection is opened within the
    // limits. If no more may be opened, the connection that would finish last gives up its segment. If responses cannot
    // be joined, readers wait for the only stream.

    mutating func addReader(of range: Range<ByteCount>) -> ReaderID { readers.add(range) }
    mutating func removeReader(_ id: ReaderID) { readers.remove(id) }
    mutating func waits(_ id: ReaderID, at now: Duration) -> Bool { readers.waits(id, at: now) }
    mutating func received(to end: ByteCount, by id: ReaderID) { readers.received(to: end, by: id) }

    /// Returns the written bytes at a reader's position, at most `most`; `nil` if there are none.
    func available(to id: ReaderID, most: ByteCount) -> Range<ByteCount>? {
        guard let reader = readers[id],
            let run = bytes.written.ranges.first(where: { $0.contains(reader.position) })
        else { return nil }
        let end = min(run.upperBound, reader.end, reader.position + most)
        return reader.position < end ? reader.position..<end : nil
    }

    /// The readers whose bytes can be fetched out of order, the longest-waiting first.
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

    /// Returns the missing range for the first request of an opening, starting at the bytes that a reader wants.
    func openingGap() -> Range<ByteCount>? {
        let gaps = bytes.unassigned.ranges
        for reader in bytes.total == nil ? [] : orderedReaders {
            if let gap = gaps.first(where: { $0.overlaps(reader.window) }) {
                return max(gap.lowerBound, reader.position)..<gap.upperBound
            }
        }
        return gaps.first
    }

    /// The missing bytes that readers need and no connection will deliver soon, the longest awaited first.
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

    /// Whether a connection that receives bytes, or may still receive them, will deliver this byte soon.
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

    /// The number of bytes that a connection delivers in the time that another one would need to start. Until its speed
    /// is measured at the next tick, the whole read-ahead.
    private func reach(of connection: Connection) -> ByteCount {
        if connection.speed == 0, connection.body != nil { return TransferReaders.readAhead }
        let delay = latency.setUp.seconds + 4 * latency.roundTrip.seconds + Self.patienceOfReaders
        return max(
            Self.smallestSteal.upperBound, ByteCount(min(connection.speed * delay, Double(TransferReaders.readAhead))))
    }

    /// The number of urgent positions in excess of the connections that are about to request their next order.
    private func unservedReaders(at now: Duration, _ terms: Terms) -> Int {
        let urgent = readers.isEmpty ? 0 : urgentPositions(at: now, terms).count
        return urgent == 0 ? 0 : max(0, urgent - all.values.count { !$0.isCut && ($0.yields || $0.isIdle) })
    }

    /// Whether a connection that has finished its segment has bytes to fetch for a reader.
    private func hasWorkForReaders(at now: Duration, _ terms: Terms) -> Bool {
        guard !readers.isEmpty else { return false }
        if !urgentPositions(at: now, terms).isEmpty { return true }
        let unassigned = bytes.unassigned
        return plannedReaders(terms).contains { !unassigned.intersection(RangeSet($0.window)).isEmpty }
    }

    /// Assigns bytes that readers wait for, or will read next; `nil` if other connections deliver all of them.
    private mutating func shareForReaders(
        _ id: ConnectionID, size: ByteCount, at now: Duration, _ terms: Terms
    ) -> Range<ByteCount>? {
        guard !readers.isEmpty else { return nil }
        // Several connections share a window in small segments, so that the start of the window arrives soon.
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

    /// Shortens the segment that contains this byte, so that it ends just before the byte.
    private mutating func free(_ byte: ByteCount) {
        for (id, segment) in bytes.segments where segment.position <= byte && byte < segment.end {
            bytes.bound(id, to: byte)
            if segment.position == byte, all[id]?.body == nil { latency.increasePatience() }
        }
    }

    /// Makes as many connections give up their segments as there are unserved readers.
    private mutating func redirectToReaders(at now: Duration, _ terms: Terms) {
        let count = unservedReaders(at: now, terms)
        guard count > 0 else { return }
        let waited = plannedReaders(terms).map(\.position)
        var candidates: [(id: ConnectionID, seconds: Double)] = []
        for (id, segment) in bytes.segments where segment.remaining > 0 {
            guard let connection = all[id], !connection.isCut, !connection.yields else { continue }
            // The connection itself serves a reader.
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

    // MARK: Bottleneck

    /// The cause that limits the speed now; `nil` if it is unknown.
    var bottleneck: Bottleneck? { bottlenecks.bottleneck }

    /// The observations since the last judgement.
    var presentFacts: TransferFacts { bottlenecks.present }

    /// Whether ``observed(_:rateLimit:at:)`` should be called.
    func isObservationDue(at now: Duration) -> Bool { bottlenecks.isDue(at: now) }

    /// Records the system's information about a connection; `id` is `nil` for requests before there are connections.
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

    /// Adds the connections' times since the last call.
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
    /// The bytes that have arrived on all connections.
    package struct Arrivals: Sendable {
        /// The bytes of response bodies, including discarded ones.
        package private(set) var bytes: ByteCount = 0
        /// The last time at which any connection had received another ``Limits/stallBytes``.
        private(set) var lastBrought: Duration?
        /// The time at which the speeds were last measured.
        private(set) var measuredAt: Duration?

        mutating func add(_ count: ByteCount) { bytes += count }
        mutating func brought(at now: Duration) { lastBrought = now }

        /// Excludes a pause without reading from the time since the last arrival.
        mutating func exclude(_ pause: Duration, at now: Duration) {
            lastBrought = lastBrought.map { min(now, $0 + pause) }
        }

        /// Returns the seconds since the last measurement.
        mutating func measure(at now: Duration) -> Double {
            defer { measuredAt = now }
            return max((now - (measuredAt ?? now)).seconds, 0.001)
        }
    }

    /// The times at which connections are opened and replaced.
    struct Openings: Sendable {
        private var lastID = 0
        /// The time before which no further connection is opened.
        var notBefore: Duration = .zero
        /// Whether the first bytes of a file have arrived since the last tick, so that other connections may join.
        var areUrgent = false
        var reconnection = ReconnectionPolicy()

        mutating func newID() -> ConnectionID {
            lastID += 1
            return ConnectionID(rawValue: lastID)
        }

        mutating func delay(until time: Duration) { notBefore = max(notBefore, time) }
    }
}
