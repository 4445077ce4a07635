import FerryCore
import FerryTesting
import Testing

@testable import Ferry

@Suite("TrafficMeter")
struct TrafficMeterTests {
    @Test("TrafficMeter: the speed of a session and of all, which falls to 0 when nothing comes")
    func sessions() {
        let meter = TrafficMeter()
        for second in 0...10 {
            meter.received(1000, for: "a", at: .seconds(second))
            meter.received(500, for: "b", at: .seconds(second))
        }
        let now = Duration.seconds(10)
        let (a, b) = (meter.bytesPerSecond(of: "a", at: now), meter.bytesPerSecond(of: "b", at: now))
        #expect((800...1500).contains(a) && (400...750).contains(b), "\(a) \(b)")
        #expect(meter.bytesPerSecond(of: nil, at: now) == a + b)
        #expect(meter.bytesPerSecond(of: nil, at: .seconds(60)) == 0)
        #expect(meter.bytesPerSecond(of: "none", at: now) == 0)
    }

    @Test("Manager: files that begin and end between two reports count in the speed of all")
    func shortFiles() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b"])
            let manager = shop.kept()
            for path in ["/a", "/b"] { _ = try await manager.download(try shop.single(path)).finished() }
            // A time before the last bytes came stands for theirs.
            #expect(try #require(manager.scheduler).traffic.bytesPerSecond(of: nil, at: .zero) > 0)
            await manager.shutdown()
            // None is running.
            #expect(manager.bytesPerSecond(of: nil) == 0)
        }
    }
}
