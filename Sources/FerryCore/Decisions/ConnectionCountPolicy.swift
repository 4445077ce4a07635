/// Finds the number of connections that maximises goodput: doubles it while goodput grows, then adds one at a time, and
/// lowers it when the server objects.
///
/// `tick` reports the bytes of each tick. A decision is made at the end of a window of ticks in which all wanted
/// connections were delivering, or in which some were not after ``patience`` ticks.
///
/// On a saturated link new connections slow the old ones down. A server that throttles each connection leaves gaps
/// instead, often in bursts (nginx sends a second's worth at once, then nothing): a window with many silent ticks
/// therefore counts as room to grow even if the sum did not grow.
package struct ConnectionCountPolicy: Sendable {
    /// The number of connections wanted now, at most ``limit`` and ``ceiling``.
    package private(set) var target = 1
    /// The user's limit.
    package private(set) var limit: Int
    /// The limit that the server accepts: lowered when it refuses a connection, raised by one after each
    /// ``ceilingRest``.
    package private(set) var ceiling: Int

    private enum Phase { case doubling, creeping, settled }
    private var phase = Phase.doubling
    /// Goodput in bytes per tick and number of connections before the last increase.
    private var before: (rate: Double, count: Int)?
    private var windowBytes: ByteCount = 0
    private var windowTicks = 0
    private var silentTicks = 0
    private var waitedTicks = 0
    private var restTicks = 0
    private var nextRest = ConnectionCountPolicy.firstRest
    private var ceilingTicks = 0
    /// Whether one connection is used permanently.
    private var isFixed = false

    /// Length of a window in ticks of 100 ms.
    package static let window = 4
    /// Ticks to wait until all wanted connections deliver.
    package static let patience = 10
    private static let gain = 1.15
    private static let firstRest = 50
    private static let longestRest = 600
    private static let ceilingRest = 300

    package init(limit: Int) {
        self.limit = max(1, limit)
        ceiling = max(1, limit)
    }

    /// Changes the user's limit.
    package mutating func set(limit new: Int) {
        let new = max(1, new)
        guard new != limit else { return }
        let old = limit
        limit = new
        if isFixed { return }
        // A ceiling that the server caused stays; one that only equalled the old limit follows the new one.
        ceiling = ceiling == old ? new : min(ceiling, new)
        if target == old, ceiling > old {
            // The old limit had stopped the growth.
            (phase, before) = (.doubling, nil)
            clearWindow()
        }
        target = min(target, ceiling)
    }

    /// Records one tick: `bytes` arrived, `delivering` connections have received a first byte, `isWorth` is whether
    /// the remaining bytes would keep another connection busy, `isAsking` that no connection was under back-pressure.
    package mutating func tick(bytes: ByteCount, delivering: Int, isWorth: Bool, isAsking: Bool = true) {
        if isFixed { return }
        liftCeiling()
        if phase == .settled { return rest(isWorth: isWorth) }
        if windowTicks == 0 && delivering < target {
            waitedTicks += 1
            if waitedTicks < Self.patience { return }
        }
        windowTicks += 1
        windowBytes += bytes
        if bytes == 0 && isAsking { silentTicks += 1 }
        guard windowTicks >= Self.window else { return }
        decide(rate: Double(windowBytes) / Double(windowTicks), delivering: delivering, isWorth: isWorth)
        clearWindow()
    }

    /// The server refused a further connection; `working` connections continue.
    package mutating func objected(working: Int) {
        if isFixed { return }
        ceiling = max(1, min(ceiling, working))
        ceilingTicks = 0
        target = min(target, ceiling)
        settle()
    }

    /// No more than the `working` connections are available now, for a reason other than the server.
    package mutating func withheld(working: Int) {
        if isFixed { return }
        target = max(1, min(target, working))
        settle()
        // A permit is free as soon as another download ends, so the delay before the next attempt does not grow.
        nextRest = Self.firstRest
    }

    /// The server does not support ranges: uses one connection permanently.
    package mutating func limitToSingleConnection() {
        isFixed = true
        (ceiling, target) = (1, 1)
        settle()
    }

    private mutating func decide(rate: Double, delivering: Int, isWorth: Bool) {
        let hasPauses = silentTicks * 3 >= Self.window && delivering >= target
        if let before, delivering < target || (rate < before.rate * Self.gain && !hasPauses) {
            // The last increase did not pay off.
            let dropped = target
            target = max(1, before.count)
            if phase == .doubling && dropped - target > 1 && rate >= before.rate * 1.05 {
                target = max(1, dropped - (dropped - target) / 2)
            }
            return settle()
        }
        guard isWorth else { return }
        before = (rate, target)
        let step = phase == .doubling ? target : 1
        let wanted = min(target + step, limit, ceiling)
        if wanted <= target { return settle() }
        target = wanted
    }

    private mutating func settle() {
        phase = .settled
        before = nil
        restTicks = 0
        clearWindow()
    }

    private mutating func clearWindow() { (windowBytes, windowTicks, silentTicks, waitedTicks) = (0, 0, 0, 0) }

    /// Tries one more connection after a rest; the rest doubles with each try.
    private mutating func rest(isWorth: Bool) {
        restTicks += 1
        guard restTicks >= nextRest, isWorth, target < min(limit, ceiling) else { return }
        nextRest = min(nextRest * 2, Self.longestRest)
        phase = .creeping
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
