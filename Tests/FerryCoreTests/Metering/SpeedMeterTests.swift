import FerryCore
import Testing

@Suite("SpeedMeter")
struct SpeedMeterTests {
    private func isNear(_ value: Double, _ expected: Double, _ tolerance: Double = 0.05) -> Bool {
        abs(value - expected) <= expected * tolerance
    }

    /// Records `rate` bytes a second in steps, up to and with the end.
    private func feed(_ meter: inout SpeedMeter, rate: Int64, from: Int64, to: Int64, step: Int64 = 10) {
        for time in stride(from: from, through: to, by: Int(step)) {
            meter.record(rate * step / 1000, at: .milliseconds(time))
        }
    }

    @Test(
        "SpeedMeter: a steady rate is measured from half a second on",
        arguments: [500, 1000, 3000, 4999, 5000, 60_000, 60_125])
    func steady(_ end: Int64) {
        var meter = SpeedMeter()
        feed(&meter, rate: 1_000_000, from: 0, to: end)
        #expect(isNear(meter.bytesPerSecond(at: .milliseconds(end)), 1_000_000, 0.06))
    }

    @Test("SpeedMeter: the first chunk alone gives no speed") func start() {
        var meter = SpeedMeter()
        #expect(meter.bytesPerSecond(at: .seconds(1)) == 0)
        meter.record(8_000_000_000, at: .seconds(1))
        #expect(meter.bytesPerSecond(at: .seconds(1)) == 0)
        meter.record(1000, at: .milliseconds(1001))
        #expect(meter.bytesPerSecond(at: .milliseconds(1001)) < 5000)
        var known = SpeedMeter(startingAt: .seconds(1))
        known.record(1_000_000, at: .seconds(2))
        #expect(known.bytesPerSecond(at: .seconds(2)) > 900_000)
    }

    @Test("SpeedMeter: recent bytes weigh more, and an idle window ends at zero") func decay() {
        var meter = SpeedMeter()
        feed(&meter, rate: 1_000_000, from: 0, to: 10_000)
        feed(&meter, rate: 10_000_000, from: 10_010, to: 12_500)
        let rising = meter.bytesPerSecond(at: .milliseconds(12_500))
        #expect(rising > 6_500_000 && rising < 9_000_000)
        var last = rising
        for time in stride(from: Int64(12_500), through: 17_400, by: 100) {
            let speed = meter.bytesPerSecond(at: .milliseconds(time))
            #expect(speed <= last + 1)
            last = speed
        }
        #expect(meter.bytesPerSecond(at: .milliseconds(17_800)) == 0)
        feed(&meter, rate: 2_000_000, from: 100_000, to: 106_000)
        #expect(isNear(meter.bytesPerSecond(at: .seconds(106)), 2_000_000))
    }

    @Test("SpeedMeter: reset() discards everything before it") func reset() {
        var meter = SpeedMeter()
        feed(&meter, rate: 100_000_000, from: 0, to: 5000)
        meter.reset()
        #expect(meter == SpeedMeter())
        #expect(meter.bytesPerSecond(at: .milliseconds(5000)) == 0)
        feed(&meter, rate: 1_000_000, from: 5010, to: 7000)
        #expect(isNear(meter.bytesPerSecond(at: .milliseconds(7000)), 1_000_000))
    }

    @Test("SpeedMeter: the remaining time follows the speed") func remaining() throws {
        var meter = SpeedMeter()
        #expect(meter.timeRemaining(remaining: 5, at: .zero) == nil)
        #expect(meter.timeRemaining(remaining: 0, at: .zero) == .zero)
        #expect(meter.timeRemaining(remaining: -5, at: .zero) == nil)
        feed(&meter, rate: 1_000_000, from: 0, to: 10_000)
        let left = try #require(meter.timeRemaining(remaining: 60_000_000, at: .seconds(10)))
        #expect(left > .seconds(57) && left < .seconds(63))
        #expect(meter.timeRemaining(remaining: .max, at: .seconds(10)) == nil)
        #expect(meter.timeRemaining(remaining: 1000, at: .seconds(20)) == nil)
    }

    @Test("SpeedMeter: bursts average out to the mean rate") func bursts() {
        var meter = SpeedMeter()
        for second in 0...30 { meter.record(1_000_000, at: .seconds(second)) }
        let speed = meter.bytesPerSecond(at: .milliseconds(30_500))
        #expect(speed > 700_000 && speed < 1_300_000)
    }

    @Test(
        "SpeedMeter: extreme numbers never trap, and speed and time stay non-negative", arguments: [91, 92] as [UInt64])
    func extremes(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let times: [Duration] = [
            .seconds(Int64.min), .seconds(-1), .zero, .seconds(1), .seconds(1e7), .seconds(Int64.max),
        ]
        let counts: [Int64] = [.min, -1, 0, 1, 1 << 40, .max]
        for _ in 0..<500 {
            var meter = SpeedMeter(startingAt: Bool.random(using: &random) ? times.randomElement(using: &random) : nil)
            for _ in 0..<20 {
                meter.record(
                    counts.randomElement(using: &random) ?? 0, at: times.randomElement(using: &random) ?? .zero)
                let time = times.randomElement(using: &random) ?? .zero
                let speed = meter.bytesPerSecond(at: time)
                #expect(speed >= 0 && speed.isFinite)
                if let left = meter.timeRemaining(remaining: .max, at: time) { #expect(left >= .zero) }
            }
        }
    }
}
