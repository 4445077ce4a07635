import FerryCore
import Testing

@Suite("Connections over model links", .timeLimit(.minutes(30)))
struct LinkTests {
    /// The quotients of Ferry's time and another's, in ascending order.
    private func quotients(
        _ kind: RandomLink, count: Int = 5, by other: (ModelLink, UInt64) -> LinkResult
    ) -> (time: [Double], bytes: [Double]) {
        var (time, bytes): ([Double], [Double]) = ([], [])
        for seed in 0..<UInt64(count) {
            let link = kind.link(seed: seed)
            let mine = LinkRun.measure(link, seed: seed)
            time.append(mine.seconds / other(link, seed).seconds)
            bytes.append(mine.bytes / Double(link.size))
        }
        return (time.sorted(), bytes.sorted())
    }

    @Test(
        "ConnectionCountPolicy: a line that one connection fills is used as well, and hardly a byte is fetched in vain")
    func full() {
        let (time, bytes) = quotients(.full) { StaticRun.measure($0, connections: 1, seed: $1) }
        #expect(time[time.count / 2] < 1.03, "\(time)")
        #expect(bytes[bytes.count / 2] < 1.015, "\(bytes)")
    }

    @Test(
        "ConnectionCountPolicy: over capped, lossy, long, shared and changing links they bring as much as sixteen",
        arguments: RandomLink.allCases.filter { $0 != .full })
    func others(kind: RandomLink) {
        let (time, _) = quotients(kind) { StaticRun.measure($0, connections: 16, seed: $1) }
        #expect(time[time.count / 2] < 1.1, "\(time)")
        // A near server is tried step by step, which costs a short download up to a second.
        #expect((time.last ?? .infinity) < 1.5, "\(time)")
    }

    @Test(
        "ConnectionCountPolicy: a far server that limits each connection gets sixteen as soon as it has responded",
        arguments: [ModelLink.Cap.rate(1.5e6), .bursts(1.5e6), .window(64e3)])
    func capped(cap: ModelLink.Cap) {
        var link = ModelLink()
        (link.roundTrip, link.line, link.cap, link.size) = (0.06, 25e6, cap, 60_000_000)
        let result = LinkRun.measure(link)
        #expect(result.counts.prefix(8).contains(16), "\(result.counts)")
        #expect(result.seconds < StaticRun.measure(link, connections: 16).seconds * 1.1)
    }

    @Test("ConnectionCountPolicy: a near server whose line one connection fills is tried with more, and served by one")
    func near() {
        var link = ModelLink()
        (link.roundTrip, link.line, link.queue, link.size) = (0.001, 12.5e6, 1e6, 600_000_000)
        let counts = LinkRun.measure(link).counts
        #expect(counts.max() ?? 0 <= 4, "\(counts)")
        #expect(counts.count { $0 <= 1 } * 2 > counts.count, "\(counts)")
    }

    @Test(
        "TransferMachine: when the line was gone, new connections go on before the old ones would",
        arguments: [(1, 5.0), (16, 5), (16, 20)])
    func gone(connections: Int, seconds: Double) {
        var link = ModelLink()
        (link.roundTrip, link.line, link.size) = (0.05, 12.5e6, 60_000_000)
        let whole = LinkRun.measure(link, connections: connections).seconds
        link.outage = 1.5..<1.5 + seconds
        let result = LinkRun.measure(link, connections: connections)
        let other = StaticRun.measure(link, connections: connections)
        #expect(result.seconds < other.seconds, "\(result.seconds), others \(other.seconds), without \(whole)")
        #expect(result.requests < 200 && result.bytes < Double(link.size) * 1.2, "\(result.requests), \(result.bytes)")
    }

    @Test("ConnectionCountPolicy: a small file is left to the first connection")
    func small() {
        var policy = ConnectionCountPolicy(limit: 16)
        policy.began(roundTrip: .milliseconds(50), left: 2 << 20)
        #expect(policy.target == 1)
        policy.began(roundTrip: .milliseconds(50), left: 20 << 20)
        #expect(policy.target == 16)
    }

    @Test("Model link: the same seed gives the same run")
    func deterministic() {
        let link = RandomLink.lossy.link(seed: 3)
        let (one, other) = (LinkRun.measure(link, seed: 5), LinkRun.measure(link, seed: 5))
        #expect(one.seconds == other.seconds && one.counts == other.counts && one.bytes == other.bytes)
    }
}
