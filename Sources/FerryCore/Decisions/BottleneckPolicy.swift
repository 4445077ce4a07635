/// Finds the cause that limits a transfer, from observations of the last seconds.
///
/// ```
/// facts of a second ──► the last five ──judge──► cause ──the same twice──► bottleneck
/// ```
///
/// A cause is reported only with facts that show it; if the facts do not show a cause, ``bottleneck`` is `nil`. Causes on this
/// machine are judged first, because they hide the capacity of the network.
package struct BottleneckPolicy: Sendable {
    /// The cause that limits the transfer now; `nil` if it is unknown.
    package private(set) var bottleneck: Bottleneck?
    /// The observations since the end of the last second.
    package var present = TransferFacts()
    private var recent: [TransferFacts] = []
    /// Whether the first second, in which connections are established, is over.
    private var hasBegun = false
    /// The judgement that has not been adopted as ``bottleneck`` yet, and the number of times that it was made.
    private var doubt: (cause: Bottleneck.Cause?, times: Int) = (nil, 0)
    private var began: Duration?
    /// The time up to which the times of the connections have been counted.
    private var watched: Duration?
    private var shortestTrip = 0.0
    private var lastArrival: Duration?

    /// The time between two judgements.
    static let interval: Duration = .seconds(1)
    private static let mostRecent = 5

    package init() {}

    // MARK: Observing

    /// Records that `count` bytes arrived on a connection after a wait of `wait` seconds. `trip` is the shortest round trip of
    /// the connection in seconds; 0 if it is unknown.
    mutating func arrived(_ count: ByteCount, after wait: Double, trip: Double, at now: Duration) {
        present.bytes += count
        defer { lastArrival = now }
        let pause = max(max(trip, shortestTrip) * Self.longPause, Self.leastPause)
        guard wait >= pause else { return }
        present.times.pauses += 1
        present.times.silent += wait
        if let gap = lastArrival.map({ (now - $0).seconds }), gap >= pause { present.times.idle += min(gap, wait) }
    }

    /// Returns the seconds since the last call; 0 for the first call.
    mutating func elapsed(at now: Duration) -> Double {
        defer { watched = now }
        return watched.map { (now - $0).seconds } ?? 0
    }

    /// Whether ``observed(at:)`` is due.
    func isDue(at now: Duration) -> Bool { began.map { now - $0 >= Self.interval } ?? true }

    /// Ends the observation of a second, and judges the last seconds.
    package mutating func observed(at now: Duration) {
        defer { (present, began) = (TransferFacts(), now) }
        guard let began, now > began else { return }
        present.seconds = (now - began).seconds
        if let trip = present.sockets.shortestTrip { shortestTrip = shortestTrip > 0 ? min(shortestTrip, trip) : trip }
        present.sockets.shortestTrip = shortestTrip > 0 ? shortestTrip : nil
        guard present.times.connected > 0 else {
            // Nothing is requested, so nothing is slow.
            (recent, hasBegun, doubt, bottleneck) = ([], false, (nil, 0), nil)
            return
        }
        if hasBegun || present.times.awaited >= present.times.connected / 2 { recent.append(present) }
        hasBegun = true
        recent = recent.suffix(Self.mostRecent)
        guard let first = recent.first else { return }
        let sum = recent.dropFirst().reduce(into: first) { $0.add($1) }
        let before = recent.dropLast().last?.speed ?? 0
        follow(Self.judge(sum, isGrowing: recent.count < 2 || recent[recent.count - 1].speed > before * Self.growth))
    }

    /// Adopts the first judgement, or one that is confirmed; a single different judgement may be due to chance.
    private mutating func follow(_ judgement: Bottleneck?) {
        if judgement?.cause == bottleneck?.cause || bottleneck == nil {
            (bottleneck, doubt) = (judgement, (nil, 0))
        } else if doubt.times > 0, doubt.cause == judgement?.cause {
            (bottleneck, doubt) = (judgement, (nil, 0))
        } else {
            doubt = (judgement?.cause, 1)
        }
    }

    // MARK: Judging

    /// The minimum fraction of the connections' time that a wait must take to explain their speed.
    private static let much = 0.4
    /// The minimum fraction of the time for a thread to count as fully used.
    private static let full = 0.8
    /// The minimum time to a first byte that counts as slow, in seconds and in round trips.
    private static let (slowSeconds, slowTrips) = (0.5, 6.0)
    /// The minimum length of a pause, in round trips and in seconds.
    private static let (longPause, leastPause) = (0.5, 0.002)
    /// The minimum factor by which the goodput grows in one second while connections are still accelerating.
    private static let growth = 1.3
    /// The minimum length, in round trips, of a pause that is attributed to the server; a shorter pause may be the time that
    /// acknowledgements take.
    private static let pauseOfServer = 2.5
    /// The minimum fraction of the time without any bytes that shows that the server sends in bursts.
    private static let idle = 0.15
    /// The minimum growth of the round trip that shows queueing, as a fraction and in seconds.
    private static let (queued, leastQueue) = (0.25, 0.002)
    /// The minimum fraction of segments out of order that shows packet loss.
    private static let disorder = 0.02
    /// The minimum fraction of the receive window that is in flight if the window is the limit.
    private static let filled = 0.6
    /// The maximum spread of speeds at a server that serves all connections equally, and the maximum spread that rules out any
    /// other cause.
    private static let (even, exact) = (0.06, 0.03)
    /// The round trip in seconds below which a window is not a limit.
    private static let near = 0.005
    /// The minimum gain that makes more connections worthwhile.
    private static let gain = 1.15

    /// Returns the cause that the facts show.
    ///
    /// - Parameter isGrowing: Whether the goodput is still growing, so that no cause on the network can be determined yet.
    package static func judge(_ facts: TransferFacts, isGrowing: Bool = false) -> Bottleneck? {
        guard facts.times.connected > 0, facts.seconds > 0 else { return nil }
        if facts.times.limited >= facts.times.connected * much, let rate = facts.surroundings.rateLimit {
            return Bottleneck(.rateLimit, bytesPerSecond: Double(rate))
        }
        let stores = facts.times.stored >= facts.times.connected * much
        if let processor = facts.surroundings.processor, processor.isScarce,
            stores || facts.sockets.lags || processor.busiest >= full
        {
            return Bottleneck(.processor, share: processor.cores)
        }
        if stores { return Bottleneck(.disk, bytesPerSecond: facts.speed) }
        if facts.times.awaited >= facts.times.connected * much,
            facts.times.firstByte >= max(slowSeconds, (facts.sockets.shortestTrip ?? 0) * slowTrips)
        {
            return Bottleneck(.latency, seconds: facts.times.firstByte)
        }
        guard !isGrowing, facts.bytes > 0, let found = ofNetwork(facts) else { return nil }
        if let ceiling = facts.surroundings.ceiling, found.isOfConnection {
            return Bottleneck(.refusals, bytesPerSecond: facts.speed, connections: ceiling)
        }
        return found
    }

    private static func ofNetwork(_ facts: TransferFacts) -> Bottleneck? {
        let trip = facts.sockets.shortestTrip ?? 0
        let pauses = facts.times.silent / facts.times.connected
        let count = facts.connections
        let spread = facts.spread ?? .infinity
        let disorder = facts.sockets.disorder
        let isOrderly = disorder < Self.disorder
        let whole = { Bottleneck($0, bytesPerSecond: facts.speed, connections: count) }
        let isSaturated = facts.surroundings.gain.map { $0 < Self.gain } ?? false
        let perConnection =
            isSaturated
            ? whole(.path) : Bottleneck(.perConnection, bytesPerSecond: facts.speedOfEach, connections: count)

        if pauses >= much, facts.meanPause >= trip * pauseOfServer, disorder < 0.3 { return perConnection }
        let waits = trip > 0 && facts.sockets.queueing >= max(trip * queued, leastQueue)
        // Congestion and packet loss never affect all connections equally. If the speeds are equal, the server limits
        // them; its bursts may also overflow the link.
        if waits || !isOrderly, spread <= exact { return perConnection }
        // A saturated link is never idle.
        if waits { return facts.times.idle >= facts.seconds * idle ? perConnection : whole(.line) }
        if !isOrderly { return Bottleneck(.loss, bytesPerSecond: facts.speed, connections: count, share: facts.loss) }
        if trip >= near {
            let inFlight = facts.speedOfEach * (facts.sockets.trip ?? trip)
            let window = Bottleneck(
                .sendWindow, connections: count, seconds: trip, windowBytes: ByteCount(min(inFlight, 1e15)))
            if let received = facts.sockets.window, inFlight >= received * filled {
                var own = window
                own.cause = .receiveWindow
                return own
            }
            if pauses >= much { return window }
        }
        if spread <= even { return perConnection }
        if isSaturated { return whole(.path) }
        // One connection receives as much as it can. No fact shows whether more connections would receive more.
        return pauses < 0.1 && trip >= near ? whole(.path) : nil
    }
}

extension Bottleneck {
    /// Whether the cause limits each connection, so that more connections would receive more.
    fileprivate var isOfConnection: Bool {
        switch cause {
        case .perConnection, .loss, .sendWindow, .receiveWindow: true
        default: false
        }
    }
}
