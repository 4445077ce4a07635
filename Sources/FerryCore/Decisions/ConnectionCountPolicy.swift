/// Finds the number of connections that maximises goodput.
///
/// A far server is given all permitted connections as soon as it has responded: over a long round trip they are in slow
/// start for longer than they could be judged one after the other, and on a line that one fills they cost nothing. With
/// a near server the number is multiplied while goodput grows. More are tried again when the goodput changes, and after
/// rests that become longer.
///
/// ```
/// watching ──far server, or judged──► trying ──gain──► trying … ──none, or the most──► settled
///                                        ▲──────────── rest, or change ─────────────────┘
/// ```
///
/// A trial is judged by the bytes of a window, which begins when all wanted connections deliver and have had
/// ``slowStart`` round trips, or when ``patience`` is over. On a saturated link new connections slow the old ones down. A
/// server that throttles each connection leaves gaps instead, often in bursts (nginx sends a second's worth at once,
/// then nothing): a window with many silent ticks therefore counts as room to grow even if the sum did not grow.
package struct ConnectionCountPolicy: Sendable {
    /// The number of connections wanted now, at most ``limit`` and ``ceiling``.
    package private(set) var target = 1
    /// The user's limit.
    package private(set) var limit: Int
    /// The limit that the server accepts: lowered when it refuses a connection, raised by one after each
    /// ``ceilingRest``.
    package private(set) var ceiling: Int

    /// The factor of the goodput when the number of connections was last increased and both were measured; `nil` if the
    /// goodput has changed since.
    package private(set) var lastGain: Double?

    private enum Phase {
        /// The first connection is measured.
        case watching
        /// Connections have joined; `rate` in bytes per tick and `count` are those before. The rate is 0 if it was not
        /// measured.
        case trying(rate: Double, count: Int)
        /// `usual` is the goodput after the last trial, once it is measured; `windows` have passed since.
        case settled(usual: Double?, windows: Int)
        case single
    }

    /// What arrived since the number of connections was changed or judged.
    private struct Window {
        var bytes: ByteCount = 0
        var ticks = 0
        var silentTicks = 0
        /// Ticks until the window began: some connections did not deliver yet, or all were in slow start.
        var waitedTicks = 0
        var warmTicks = 0

        var rate: Double { Double(bytes) / Double(max(1, ticks)) }
        var hasPauses: Bool { silentTicks * 3 >= ticks }
    }

    private var phase = Phase.watching
    private var window = Window()
    private var nextRest = ConnectionCountPolicy.firstRest
    private var ceilingTicks = 0

    /// The round trip from which a server is far.
    package static let far: Duration = .milliseconds(8)
    /// Missing bytes below which another connection is not worth opening.
    package static let worth: ByteCount = 16 << 20
    /// Round trips until a connection has left slow start.
    private static let slowStart = 8.0
    /// Ticks of 100 ms in which a server must begin to send on all wanted connections.
    private static let patience = 10
    /// The factors of an increase, and that of the goodput which justifies it.
    private static let (firstStep, laterStep, gain) = (4, 2, 1.15)
    /// Bytes per tick above which one connection to a near server is not limited by the server.
    private static let fast = 6_000_000.0
    /// Ticks over which a trial is measured at least, and a settled goodput: more than two bursts.
    private static let (shortWindow, longWindow) = (3, 20)
    /// Rests in long windows, and the ticks after which the ceiling is raised.
    private static let (firstRest, longestRest, ceilingRest) = (3, 30, 300)

    package init(limit: Int) {
        self.limit = max(1, limit)
        ceiling = max(1, limit)
    }

    private var most: Int { min(limit, ceiling) }
    /// Whether the server has refused connections that are permitted.
    var hasRefusals: Bool { !isSingle && ceiling < limit }
    /// Whether one connection is used permanently.
    package var isSingle: Bool { if case .single = phase { true } else { false } }

    /// Changes the user's limit.
    package mutating func set(limit new: Int) {
        let new = max(1, new)
        guard new != limit else { return }
        let old = limit
        limit = new
        if isSingle { return }
        // A ceiling that the server caused stays; one that only equalled the old limit follows the new one.
        ceiling = ceiling == old ? new : min(ceiling, new)
        // The old limit had stopped the growth: it continues after a new measurement.
        if target == old, ceiling > old { enter(.trying(rate: 0, count: target)) }
        target = min(target, ceiling)
    }

    /// The first response has arrived, and parts may be requested: `left` bytes are missing.
    package mutating func began(roundTrip: Duration, left: ByteCount) {
        guard case .watching = phase, roundTrip >= Self.far, left >= Self.worth, most > target else { return }
        enter(.trying(rate: 0, count: target))
        target = most
    }

    /// Records one tick: `bytes` arrived, `delivering` connections have received a first byte, `left` bytes are missing,
    /// `isAsking` says that no connection was under back-pressure.
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

    /// The server refused a further connection; `working` connections continue.
    package mutating func objected(working: Int) {
        if isSingle { return }
        ceiling = max(1, min(ceiling, working))
        ceilingTicks = 0
        target = min(target, ceiling)
        enter(.settled(usual: nil, windows: 0))
    }

    /// No more than the `working` connections are available now, for a reason other than the server.
    package mutating func withheld(working: Int) {
        if isSingle { return }
        target = max(1, min(target, working))
        enter(.settled(usual: nil, windows: 0))
        // A permit is free as soon as another download ends, so the delay before the next attempt does not grow.
        nextRest = Self.firstRest
    }

    /// The server does not support ranges: uses one connection permanently.
    package mutating func limitToSingleConnection() {
        (ceiling, target) = (1, 1)
        enter(.single)
    }

    private mutating func enter(_ new: Phase) { (phase, window) = (new, Window()) }

    /// Whether the window begins: all wanted connections deliver, or ``patience`` is over, and slow start as well.
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
            // A server that sends in bursts may have sent none of them.
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

/// How long responses take, from request to head.
struct ResponseLatency: Sendable {
    /// The shortest time of a request on a new connection, with the set-up of the connection.
    private(set) var setUp: Duration = .zero
    /// The shortest time on a connection in use; until one is known, half of ``setUp``, since TCP alone needs as long as
    /// the request.
    private(set) var roundTrip: Duration = .zero
    private var isMeasured = false
    /// The shortest round trip that the system has seen on a connection; `nil` if it does not tell.
    private(set) var shortestTrip: Duration?
    /// The times of the newest responses, oldest first.
    private var newest: [Duration] = []
    /// How long a connection may receive nothing before others take its bytes: three times as long as a response
    /// usually takes here, and doubled each time until the next response.
    private(set) var patience = leastPatience

    private let mostPatience: Duration
    private static let leastPatience: Duration = .seconds(2)

    init(mostPatience: Duration = .seconds(60)) { self.mostPatience = mostPatience }

    /// The median of the five newest times; of two in the middle, the longer one. Zero before the first response.
    ///
    /// A server that serves few connections lets the others wait until one closes: those times say nothing about how
    /// long it takes to respond.
    var usual: Duration { newest.isEmpty ? .zero : newest.sorted()[newest.count / 2] }

    /// Whether the other end is this machine or beside it: it is not behind a line that may be gone.
    var isBeside: Bool { shortestTrip.map { $0 < .milliseconds(1) } ?? false }

    mutating func observed(_ trip: Duration?) {
        guard let trip, trip > .zero else { return }
        shortestTrip = min(shortestTrip ?? trip, trip)
    }

    /// Increases the patience with a server that is slower than it was.
    mutating func increasePatience() { patience = min(patience * 2, mostPatience) }

    /// Records the time of a response; `isFirst` says that its connection was made for it.
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
