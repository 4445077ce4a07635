/// Finds the number of connections that maximises goodput.
///
/// A distant server gets all permitted connections as soon as it has responded: over a long round trip, each trial would have
/// to wait until the new connections leave slow start, and additional connections cost nothing on a link that one connection
/// saturates. With a nearby server, the number is multiplied while goodput grows. More connections are tried again when the
/// goodput changes, and after rests of increasing length.
///
/// ```
/// watching ──far server, or judged──► trying ──gain──► trying … ──none, or the most──► settled
///                                        ▲──────────── rest, or change ─────────────────┘
/// ```
///
/// A trial is judged by the bytes of a window. The window starts when all wanted connections deliver and have had ``slowStart``
/// round trips, or when ``patience`` has elapsed. On a saturated link, new connections slow down the existing ones. A server
/// that throttles each connection leaves gaps instead, often in bursts (nginx sends the bytes of a second at once, then
/// nothing). A window with many silent ticks therefore shows that there is room to grow, even if the sum did not grow.
package struct ConnectionCountPolicy: Sendable {
    /// The number of connections wanted now, at most ``limit`` and ``ceiling``.
    package private(set) var target = 1
    /// The user's limit.
    package private(set) var limit: Int
    /// The limit that the server accepts: lowered when it refuses a connection, raised by one after each
    /// ``ceilingRest``.
    package private(set) var ceiling: Int

    /// The factor by which the goodput changed when the number of connections was last increased; `nil` if it was not
    /// measured, or if the goodput has changed since.
    package private(set) var lastGain: Double?

    private enum Phase {
        /// The first connection is being measured.
        case watching
        /// Connections were added; `rate` (in bytes per tick) and `count` are the values before. The rate is 0 if it
        /// was not measured.
        case trying(rate: Double, count: Int)
        /// `usual` is the goodput after the last trial, once it is measured; `windows` is the number of windows since.
        case settled(usual: Double?, windows: Int)
        case single
    }

    /// The bytes that have arrived since the number of connections was changed or judged.
    private struct Window {
        var bytes: ByteCount = 0
        var ticks = 0
        var silentTicks = 0
        /// The ticks before the window started: while some connections did not deliver yet, and while they were in slow start.
        var waitedTicks = 0
        var warmTicks = 0

        var rate: Double { Double(bytes) / Double(max(1, ticks)) }
        var hasPauses: Bool { silentTicks * 3 >= ticks }
    }

    private var phase = Phase.watching
    private var window = Window()
    private var nextRest = ConnectionCountPolicy.firstRest
    private var ceilingTicks = 0

    /// The minimum round trip of a distant server.
    package static let far: Duration = .milliseconds(8)
    /// The number of missing bytes below which another connection is not worthwhile.
    package static let worth: ByteCount = 16 << 20
    /// The number of round trips after which a connection has left slow start.
    private static let slowStart = 8.0
    /// The number of ticks of 100 ms within which a server must start to send on all wanted connections.
    private static let patience = 10
    /// The factors by which the number of connections is increased, and the growth factor of the goodput that justifies an
    /// increase.
    private static let (firstStep, laterStep, gain) = (4, 2, 1.15)
    /// The bytes per tick above which a nearby server does not limit a single connection.
    private static let fast = 6_000_000.0
    /// The minimum number of ticks over which a trial and a settled goodput are measured: more than two bursts.
    private static let (shortWindow, longWindow) = (3, 20)
    /// The first and the longest rest, in long windows, and the number of ticks after which the ceiling is raised.
    private static let (firstRest, longestRest, ceilingRest) = (3, 30, 300)

    package init(limit: Int) {
        self.limit = max(1, limit)
        ceiling = max(1, limit)
    }

    private var most: Int { min(limit, ceiling) }
    /// Whether the server has refused connections that the user's limit permits.
    var hasRefusals: Bool { !isSingle && ceiling < limit }
    /// Whether only one connection is used permanently.
    package var isSingle: Bool { if case .single = phase { true } else { false } }

    /// Changes the user's limit.
    package mutating func set(limit new: Int) {
        let new = max(1, new)
        guard new != limit else { return }
        let old = limit
        limit = new
        if isSingle { return }
        // A ceiling that the server caused stays; a ceiling that only equalled the old limit becomes the new limit.
        ceiling = ceiling == old ? new : min(ceiling, new)
        // The old limit had stopped the growth, which continues after a new measurement.
        if target == old, ceiling > old { enter(.trying(rate: 0, count: target)) }
        target = min(target, ceiling)
    }

    /// Records that the first response has arrived, so that parts may be requested; `left` bytes are missing.
    package mutating func began(roundTrip: Duration, left: ByteCount) {
        guard case .watching = phase, roundTrip >= Self.far, left >= Self.worth, most > target else { return }
        enter(.trying(rate: 0, count: target))
        target = most
    }

    /// Records one tick: `bytes` arrived, `delivering` connections have received a first byte, and `left` bytes are
    /// missing. `isAsking` is true if no connection was under back-pressure.
    package mutating func tick(
        bytes: ByteCount, delivering: Int, left: ByteCount, roundTrip: Duration = .zero, isAsking: Bool = true
    ) {
        if isSingle { return }
        liftCeiling()
        let trip = roundTrip.seconds * 10
        let isSettled = if case .settled = phase { true } else { false }
        if !isSettled, !isWarm(delivering: delivering, after: trip * Self.slowStart) { return }
        window.ticks += 1
        window.bytes += bytes
        if bytes == 0 && isAsking { window.silentTicks += 1 }
        guard window.ticks >= (isSettled ? Self.longWindow : max(Self.shortWindow, Int(trip * 4))) else { return }
        let isWorth = left >= Self.worth && Double(left) >= window.rate * max(5, trip * 10)
        decide(window, delivering: delivering, isWorth: isWorth)
        window = Window()
    }

    /// Records that the server refused another connection; `working` connections continue.
    package mutating func objected(working: Int) {
        if isSingle { return }
        ceiling = max(1, min(ceiling, working))
        ceilingTicks = 0
        target = min(target, ceiling)
        enter(.settled(usual: nil, windows: 0))
    }

    /// Records that only the `working` connections are available now, for a reason other than the server.
    package mutating func withheld(working: Int) {
        if isSingle { return }
        target = max(1, min(target, working))
        enter(.settled(usual: nil, windows: 0))
        // A permit becomes free as soon as another download ends, so the delay before the next attempt does not grow.
        nextRest = Self.firstRest
    }

    /// Uses one connection permanently, because the server does not support ranges.
    package mutating func limitToSingleConnection() {
        (ceiling, target) = (1, 1)
        enter(.single)
    }

    private mutating func enter(_ new: Phase) { (phase, window) = (new, Window()) }

    /// Whether the window starts: all wanted connections deliver or ``patience`` has elapsed, and slow start is over.
    private mutating func isWarm(delivering: Int, after ticks: Double) -> Bool {
        if window.warmTicks == 0, delivering < target {
            window.waitedTicks += 1
            if window.waitedTicks < max(Self.patience, Int(ticks)) { return false }
        }
        window.warmTicks += 1
        return Double(window.warmTicks) > ticks
    }

    private mutating func decide(_ now: Window, delivering: Int, isWorth: Bool) {
        switch phase {
        case .single: break
        case .watching:
            if now.rate >= Self.fast { return enter(.settled(usual: now.rate, windows: 0)) }
            grow(from: now.rate, by: Self.firstStep, isWorth: isWorth)
        case .trying(let rate, let count):
            let isComplete = delivering >= target
            // A server that sends in bursts may have sent no burst in this window.
            lastGain = rate > 0 && (now.rate >= rate * Self.gain || !now.hasPauses) ? now.rate / rate : nil
            if now.rate >= rate * Self.gain || isComplete && now.hasPauses {
                if isComplete { return grow(from: now.rate, by: Self.firstStep, isWorth: isWorth) }
                target = max(min(count, most), min(target, delivering))
            } else {
                target = min(count, most)
            }
            enter(.settled(usual: nil, windows: 0))
        case .settled(let usual, let windows):
            let hasChanged = usual.map { now.rate < $0 * 0.7 || now.rate > $0 * 1.4 } ?? false
            if hasChanged { lastGain = nil }
            phase = .settled(usual: hasChanged ? now.rate : usual ?? now.rate, windows: windows + 1)
            guard hasChanged || windows + 1 >= nextRest, isWorth, target < most else { return }
            nextRest = hasChanged ? Self.firstRest : min(nextRest * 2, Self.longestRest)
            grow(from: now.rate, by: Self.laterStep, isWorth: true)
        }
    }

    /// Tries more connections, if the remaining bytes would keep them busy.
    private mutating func grow(from rate: Double, by factor: Int, isWorth: Bool) {
        let wanted = min(target * factor, most)
        if wanted <= target { return enter(.settled(usual: nil, windows: 0)) }
        guard isWorth else { return }
        enter(.trying(rate: rate, count: target))
        target = wanted
    }

    private mutating func liftCeiling() {
        guard ceiling < limit else { return }
        ceilingTicks += 1
        if ceilingTicks >= Self.ceilingRest {
            ceiling += 1
            ceilingTicks = 0
        }
    }
}

/// The time that responses take, from request to head.
struct ResponseLatency: Sendable {
    /// The shortest response time on a new connection, including the set-up of the connection.
    private(set) var setUp: Duration = .zero
    /// The shortest response time on a connection in use. Until one is known, half of ``setUp``, because the TCP
    /// handshake takes as long as the request.
    private(set) var roundTrip: Duration = .zero
    private var isMeasured = false
    /// The shortest round trip that the system has measured on a connection; `nil` if it is unknown.
    private(set) var shortestTrip: Duration?
    /// The times of the newest responses, oldest first.
    private var newest: [Duration] = []
    /// The time for which a connection may receive nothing before other connections take over its bytes: three times the usual
    /// response time, doubled by each call of ``increasePatience()`` until the next response.
    private(set) var patience = leastPatience

    private let mostPatience: Duration
    private static let leastPatience: Duration = .seconds(2)

    init(mostPatience: Duration = .seconds(60)) { self.mostPatience = mostPatience }

    /// The median of the five newest times, the longer of the two in the middle; zero before the first response.
    ///
    /// A server that serves only few connections makes the others wait until one closes. Such times do not show how
    /// long the server takes to respond.
    var usual: Duration { newest.isEmpty ? .zero : newest.sorted()[newest.count / 2] }

    /// Whether the peer is on this machine or its local network, and so not behind a link that can fail.
    var isBeside: Bool { shortestTrip.map { $0 < .milliseconds(1) } ?? false }

    mutating func observed(_ trip: Duration?) {
        guard let trip, trip > .zero else { return }
        shortestTrip = min(shortestTrip ?? trip, trip)
    }

    /// Increases the patience with a server that is slower than it was.
    mutating func increasePatience() { patience = min(patience * 2, mostPatience) }

    /// Records the time of a response; `isFirst` is true if its connection was opened for it.
    mutating func record(_ time: Duration, isFirst: Bool) {
        defer { patience = min(max(Self.leastPatience, usual * 3), mostPatience) }
        newest.append(time)
        if newest.count > 5 { newest.removeFirst() }
        if isFirst {
            setUp = setUp == .zero ? time : min(setUp, time)
            if !isMeasured { roundTrip = setUp / 2 }
        } else {
            roundTrip = isMeasured ? min(roundTrip, time) : time
            isMeasured = true
        }
    }
}
