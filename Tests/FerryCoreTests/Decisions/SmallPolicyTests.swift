import FerryCore
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
    @Test("RetryPolicy: the back-off doubles up to a minute, with jitter and never without a delay")
    func delays() {
        for random in [-1, 0, 0.1, 0.5, 0.999, 2] {
            var policy = RetryPolicy(maxRetries: nil)
            for attempt in 1...40 {
                let ceiling = min(60, 0.5 * Double(1 << min(attempt - 1, 20)))
                guard case .retry(let delay, attempt) = policy.failed(random: random) else {
                    Issue.record("gave up")
                    return
                }
                #expect(delay.seconds >= ceiling * 0.0999 && delay.seconds <= ceiling * 1.0001)
            }
        }
    }

    @Test("RetryPolicy: the server's Retry-After is obeyed up to six hours, and zero still delays")
    func wishes() {
        var policy = RetryPolicy(maxRetries: nil)
        #expect(policy.failed(wish: .seconds(90), random: 0.5) == .retry(after: .seconds(90), attempt: 1))
        #expect(policy.failed(wish: .seconds(1 << 40), random: 0.5) == .retry(after: .seconds(21600), attempt: 2))
        guard case .retry(let delay, _) = policy.failed(wish: .zero, random: 0.5) else { return }
        #expect(delay > .zero)
    }

    @Test("RetryPolicy: attempts end at their limit, and progress resets the count")
    func limits() {
        var policy = RetryPolicy(maxRetries: 2)
        for _ in 0..<5 {
            for _ in 0..<2 { #expect(policy.failed(random: 0.5) != .giveUp) }
            policy.progressed()
        }
        for _ in 0..<2 { #expect(policy.failed(random: 0.5) != .giveUp) }
        #expect(policy.failed(random: 0.5) == .giveUp)
        var none = RetryPolicy(maxRetries: 0)
        #expect(none.failed(random: 0.5) == .giveUp)
    }
}

@Suite("SamplePlan")
struct SamplePlanTests {
    private func plan(_ held: RangeSet<ByteCount>, seed: UInt64 = 1) -> [Range<ByteCount>] {
        let random = Seeded(seed)
        return SamplePlan.blocks(of: held) { random.below($0) }
    }

    private final class Seeded {
        var bytes: SeededBytes
        init(_ seed: UInt64) { bytes = SeededBytes(seed: seed) }
        func below(_ limit: ByteCount) -> ByteCount { ByteCount.random(in: 0..<limit, using: &bytes) }
    }

    @Test("SamplePlan: less than 1 MiB is compared whole")
    func all() {
        let held = RangeSet<ByteCount>([0..<200_000, 300_000..<300_001, 5_000_000..<5_100_000])
        #expect(RangeSet(plan(held)) == held)
        #expect(plan(RangeSet()) == [])
    }

    @Test(
        "SamplePlan: above 1 MiB both ends and random blocks give sixteen different held blocks",
        arguments: 0..<40 as Range<UInt64>)
    func some(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        var held = RangeSet<ByteCount>(0..<ByteCount.random(in: (1 << 20)...(2 << 20), using: &random))
        if seed % 3 == 0 {
            held.insert(contentsOf: (1 << 40)..<(1 << 40) + ByteCount.random(in: 1...(1 << 34), using: &random))
        }
        if seed % 5 == 0 { held.insert(contentsOf: .max - 100 ..< .max) }
        let blocks = plan(held, seed: seed)
        #expect(blocks.count == 16 && Set(blocks).count == 16)
        #expect(blocks.allSatisfy { held.holds($0) && !$0.isEmpty && $0.count <= 64 * 1024 })
        #expect(blocks.map(\.lowerBound) == blocks.map(\.lowerBound).sorted())
        #expect(blocks.first?.lowerBound == held.ranges.first?.lowerBound)
        #expect(blocks.contains { $0.upperBound == held.ranges.last?.upperBound })
    }

    @Test("SamplePlan: a file held in many small ranges gives sixteen blocks")
    func crumbs() {
        let held = RangeSet<ByteCount>((0..<2000).map { $0 * 10_000..<$0 * 10_000 + 900 as Range<ByteCount> })
        #expect(plan(held).count == 16)
    }

    @Test("SamplePlan: constant blocks or fewer than four others prove nothing, and one difference decides")
    func judging() {
        let (good, flat, bad) = (
            (isEqual: true, isConstant: false), (isEqual: true, isConstant: true), (isEqual: false, isConstant: false)
        )
        #expect(SamplePlan.judge(Array(repeating: good, count: 4), comparedAll: false) == .equal)
        #expect(
            SamplePlan.judge(Array(repeating: good, count: 3), comparedAll: false) == .inconclusive(Reason(.tooLittle)))
        #expect(
            SamplePlan.judge(Array(repeating: flat, count: 16), comparedAll: false) == .inconclusive(Reason(.tooLittle))
        )
        #expect(
            SamplePlan.judge([good, good, good, flat, flat], comparedAll: false) == .inconclusive(Reason(.tooLittle)))
        #expect(SamplePlan.judge(Array(repeating: good, count: 15) + [bad], comparedAll: false) == .different)
        #expect(SamplePlan.judge([flat], comparedAll: true) == .equal)
        #expect(SamplePlan.judge([flat, bad], comparedAll: true) == .different)
        #expect(SamplePlan.judge([], comparedAll: true) == .inconclusive(Reason(.tooLittle)))
    }
}

@Suite("DownloadState")
struct DownloadStateTests {
    @Test(
        "DownloadState: each state allows exactly the actions of its table row",
        arguments: [
            (.waiting(.slot), "cancel change pause remove resume"),
            (.waiting(.freshLink), "cancel change pause remove resume"),
            (.downloading, "cancel change pause remove"), (.verifying, "cancel pause remove"),
            (.paused, "cancel change remove resume"),
            (.failed(DownloadError(.network, "")), "cancel change remove resume"),
            (.completed(.digest), "remove restart"), (.cancelled, "remove restart"),
        ] as [(DownloadState, String)])
    func actions(state: DownloadState, expected: String) {
        #expect(state.actions.map(\.rawValue).sorted().joined(separator: " ") == expected)
    }
}
