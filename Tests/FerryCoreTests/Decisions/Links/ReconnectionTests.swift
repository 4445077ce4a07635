import FerryCore
import Testing

@Suite("ReconnectionPolicy")
struct ReconnectionTests {
    /// The ticks, from 0 on, after which connections are replaced.
    private func reconnections(_ rates: [ByteCount], roundTrip: Duration = .milliseconds(50)) -> [Int] {
        var policy = ReconnectionPolicy()
        return rates.enumerated().filter { policy.tick(bytes: $1, roundTrip: roundTrip) }.map(\.offset)
    }

    @Test("ReconnectionPolicy: goodput that grows after it was steady makes connections anew, once for a while")
    func growth() {
        let steady = Array(repeating: ByteCount(500_000), count: 20)
        let found = reconnections(steady + Array(repeating: 700_000, count: 20))
        #expect(found.count == 1)
        #expect((20...22).contains(found.first ?? 0), "\(found)")
    }

    @Test("ReconnectionPolicy: neither slow start, nor what was there before, nor bursts make connections anew")
    func others() {
        let slowStart = (0..<4).map { ByteCount(50_000) << $0 } + Array(repeating: 800_000, count: 40)
        #expect(reconnections(slowStart).isEmpty)
        let recovery = Array(repeating: ByteCount(500_000), count: 8) + Array(repeating: 250_000, count: 8)
        #expect(reconnections(recovery + recovery).isEmpty)
        #expect(reconnections((0..<80).map { $0.isMultiple(of: 10) ? 5_000_000 : 0 }).isEmpty)
    }

    @Test("ReconnectionPolicy: a faster line is filled sooner than by a fixed number of connections")
    func fasterLine() {
        var link = ModelLink()
        (link.roundTrip, link.line, link.queue, link.size) = (0.06, 6.25e6, 300e3, 40_000_000)
        link.change = (1.5, 4)
        let (mine, other) = (LinkRun.measure(link), StaticRun.measure(link, connections: 16))
        #expect(mine.seconds < other.seconds * 0.9, "\(mine.seconds), \(other.seconds)")
        #expect(mine.bytes < Double(link.size) * 1.03)
    }

    @Test("SegmentPlanner: others are assigned the last bytes of a gap into which a stream goes on")
    func stream() {
        var planner = SegmentPlanner(total: 1000)
        let (stream, other, third) = (ConnectionID(rawValue: 1), ConnectionID(rawValue: 2), ConnectionID(rawValue: 3))
        planner.assignStream(stream, from: 0, asked: 1000)
        planner.bound(stream, to: 200)
        let last = planner.assign(other, size: 300, besides: [stream])
        #expect(last == 700..<1000)
        let goesOn = planner.extend(stream)
        #expect(goesOn)
        planner.bound(stream, to: 200)
        // Without the stream, the first bytes come first.
        let first = planner.assign(third, size: 100)
        #expect(first == 200..<300)
    }

    @Test("TransferMachine: over a long link, the connection that was first goes on until the end")
    func endOfLongLink() {
        var link = ModelLink()
        (link.roundTrip, link.line, link.queue, link.size) = (0.054, 17.7e6, 1.37e6, 43_000_000)
        let (mine, one) = (LinkRun.measure(link), StaticRun.measure(link, connections: 1))
        #expect(mine.seconds < one.seconds * 1.03, "\(mine.seconds), \(one.seconds)")
        // No connection fetches the rest alone.
        #expect(mine.counts.suffix(4).contains { $0 > 1 }, "\(mine.counts)")
    }
}
