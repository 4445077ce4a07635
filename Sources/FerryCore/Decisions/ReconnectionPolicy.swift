/// Finds when connections are worth making anew: when the line has become faster.
///
/// A connection in congestion avoidance grows by about a segment in a round trip, or waits for seconds on a plateau, so
/// the room that a faster line has, or that another download leaves, stays empty for many round trips. A new connection
/// doubles its rate in each. When the goodput grows beyond what it was for a while, some of the connections are replaced.
package struct ReconnectionPolicy: Sendable {
    /// The bytes per tick of the last windows, oldest first.
    private var usual: [Double] = []
    private var bytes: ByteCount = 0
    private var ticks = 0
    /// The ticks until something is measured, as new connections are in slow start; `nil` until they all deliver.
    private var rest: Int?

    /// The factor of the goodput that shows that there is more room.
    private static let growth = 1.1
    /// The share of the most that was received in a window that the others must have as well: a server that sends in
    /// bursts shows nothing.
    private static let spread = 0.3
    /// The length of a window: in round trips, and in ticks of 100 ms.
    private static let (trips, leastTicks) = (2.0, 2)
    /// The number of windows in which the goodput must not have grown, and of those that are remembered.
    private static let (steady, remembered) = (3, 8)
    /// Round trips until new connections have left slow start.
    private static let slowStart = 8.0
    /// One of so many connections is replaced at a time.
    package static let share = 4

    package init() {}

    /// Records one tick: `bytes` arrived on connections that all wanted some. Returns whether some are to be replaced.
    package mutating func tick(bytes new: ByteCount, roundTrip: Duration) -> Bool {
        let trip = roundTrip.seconds * 10
        let rest = rest ?? Int((trip * Self.slowStart).rounded(.up))
        self.rest = max(0, rest - 1)
        if rest > 0 { return false }
        bytes += new
        ticks += 1
        guard ticks >= max(Self.leastTicks, Int((trip * Self.trips).rounded(.up))) else { return false }
        let rate = Double(bytes) / Double(ticks)
        (bytes, ticks) = (0, 0)
        if usual.count >= Self.steady, let most = usual.max(), rate > most * Self.growth,
            let least = usual.min(), least > 0, least >= most * Self.spread
        {
            self = ReconnectionPolicy()
            return true
        }
        usual = usual.suffix(Self.remembered - 1) + [rate]
        return false
    }

    /// Forgets what was measured: connections have joined, left or paused.
    package mutating func reset() { (usual, bytes, ticks) = ([], 0, 0) }
}
