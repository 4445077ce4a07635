/// How many connections pay: doubled while the goodput grows, then one by one; fewer when the server objects.
///
/// Fed once a tick with what arrived in it. It decides at the end of a window of ticks in which every connection it
/// asked for was delivering, or after ``patience`` ticks when some never began to.
///
/// A link that is full slows the old connections when new ones join. A server that throttles each connection leaves
/// pauses instead, and often in bursts: so a window with many silent ticks counts as room to grow even when the sum did
/// not (nginx sends a second's worth at once, then nothing).
package struct ConnectionCountPolicy: Sendable {
    /// The connections wanted now.
    package private(set) var target = 1
    /// Never more: the user's limit.
    package private(set) var limit: Int
    /// Lowered when the server refuses; rises again by one after a while.
    package private(set) var ceiling: Int

    private enum Phase { case doubling, creeping, settled }
    private var phase = Phase.doubling
    /// The goodput, in bytes per tick, before the last step up, and the count it had.
    private var before: (rate: Double, count: Int)?
    private var windowBytes: ByteCount = 0
    private var windowTicks = 0
    private var silentTicks = 0
    private var waitedTicks = 0
    private var restTicks = 0
    private var nextRest = ConnectionCountPolicy.firstRest
    private var ceilingTicks = 0
    /// One connection, for good.
    private var isFixed = false

    /// Ticks (of 100 ms) in one window.
    package static let window = 4
    /// Ticks to wait for every connection to deliver.
    package static let patience = 10
    private static let gain = 1.15
    private static let firstRest = 50
    private static let longestRest = 600
    private static let ceilingRest = 300

    package init(limit: Int) {
        self.limit = max(1, limit)
        ceiling = max(1, limit)
    }

    /// The user's limit is another one, from now on.
    package mutating func set(limit new: Int) {
        let new = max(1, new)
        guard new != limit else { return }
        let old = limit
        limit = new
        if isFixed { return }
        // What the server refused stays refused; a limit that was the ceiling takes it along.
        ceiling = ceiling == old ? new : min(ceiling, new)
        if target == old, ceiling > old {
            // The old limit was what held it back.
            (phase, before) = (.doubling, nil)
            clearWindow()
        }
        target = min(target, ceiling)
    }

    /// One tick passed: `bytes` arrived, `delivering` connections have sent a first byte, `isWorth` says whether what
    /// is left would keep another connection busy, `isAsking` that nothing of ours held the bytes back.
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

    /// The server objects to as many as there are: `working` go on.
    package mutating func objected(working: Int) {
        if isFixed { return }
        ceiling = max(1, min(ceiling, working))
        ceilingTicks = 0
        target = min(target, ceiling)
        settle()
    }

    /// No more than the `working` ones can be had now, for a reason that says nothing about the server.
    package mutating func withheld(working: Int) {
        if isFixed { return }
        target = max(1, min(target, working))
        settle()
        // It passes as soon as another download ends: the next try is not put off further and further.
        nextRest = Self.firstRest
    }

    /// Ranges do not work here: one connection, for good.
    package mutating func limitToSingleConnection() {
        isFixed = true
        (ceiling, target) = (1, 1)
        settle()
    }

    private mutating func decide(rate: Double, delivering: Int, isWorth: Bool) {
        let hasPauses = silentTicks * 3 >= Self.window && delivering >= target
        if let before, delivering < target || (rate < before.rate * Self.gain && !hasPauses) {
            // The last step did not pay.
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

    /// After a rest, one more is tried; each try doubles the rest.
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
