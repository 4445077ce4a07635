/// Finds when it is worthwhile to replace connections, because the link has become faster.
///
/// A connection in congestion avoidance grows by about one segment per round trip, or stays on a plateau for seconds.
/// The capacity that a faster link has, or that another download releases, therefore stays unused for many round trips.
/// A new connection doubles its rate in each round trip. When the goodput rises above its level of the last windows,
/// some of the connections are replaced.
package struct ReconnectionPolicy: Sendable {
    /// The bytes per tick of the last windows, oldest first.
    private var usual: [Double] = []
    private var bytes: ByteCount = 0
    private var ticks = 0
    /// The ticks until measuring starts, because new connections are in slow start; `nil` until all of them deliver.
    private var rest: Int?

    /// The growth factor of the goodput that shows that there is more capacity.
    private static let growth = 1.1
    /// The minimum ratio of the slowest measured window to the fastest. If the ratio is lower, the server sends in bursts, and
    /// the windows show nothing.
    private static let spread = 0.3
    /// The minimum length of a window, in round trips and in ticks of 100 ms.
    private static let (trips, leastTicks) = (2.0, 2)
    /// The number of windows in which the goodput must not have grown, and the number of windows that are remembered.
    private static let (steady, remembered) = (3, 8)
    /// The number of round trips after which new connections have left slow start.
    private static let slowStart = 8.0
    /// One in this many connections is replaced at a time.
    package static let share = 4

    package init() {}

    /// Records one tick: `bytes` arrived on connections that all wanted data. Returns whether some connections should
    /// be replaced.
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

    /// Discards the measurements, because connections were added, closed or paused.
    package mutating func reset() { (usual, bytes, ticks) = ([], 0, 0) }
}
