import FerryCore
import Testing

@Suite("SegmentPlanner", .timeLimit(.minutes(30)))
struct SegmentPlannerTests {
    /// A byte of the model.
    private enum Byte { case missing, writing(ConnectionID, doubtful: Bool), written, forgotten }

    @Test(
        "SegmentPlanner: under any order of calls no byte has two writers, and every byte is fetched",
        arguments: 0..<20 as Range<UInt64>)
    func anyOrder(batch: UInt64) {
        for seed in batch * 10..<batch * 10 + 10 {
            let problem = play(seed: seed)
            #expect(problem == nil, "seed \(seed)")
        }
    }

    /// Plays one random sequence; the violation, or `nil`.
    private func play(seed: UInt64) -> String? {
        var random = SeededBytes(seed: seed)
        func number(_ range: ClosedRange<ByteCount>) -> ByteCount { ByteCount.random(in: range, using: &random) }
        let total = number(1...300)
        var held = RangeSet<ByteCount>()
        for _ in 0..<number(0...3) {
            let start = number(0...total - 1)
            held.insert(contentsOf: start..<min(total, start + number(1...40)))
        }
        var planner = SegmentPlanner(total: total, claimed: held)
        var bytes = (0..<total).map { held.contains($0) ? Byte.written : .missing }
        var snapshots: [RangeSet<ByteCount>] = []
        /// Writes that have returned, at the time of each snapshot.
        var truths: [RangeSet<ByteCount>] = []

        func truth() -> RangeSet<ByteCount> {
            var runs: [Range<ByteCount>] = []
            for index in 0..<total {
                guard case .written = bytes[Int(index)] else { continue }
                if let last = runs.last, last.upperBound == index {
                    runs[runs.count - 1] = last.lowerBound..<index + 1
                } else {
                    runs.append(index..<index + 1)
                }
            }
            return RangeSet(runs)
        }
        func check() -> String? {
            let segments = planner.segments.map { $0 }
            for (index, one) in segments.enumerated() {
                for other in segments[(index + 1)...] {
                    let (a, b) = (reach(one.value), reach(other.value))
                    if !a.intersection(b).isEmpty { return "two writers: \(one) \(other)" }
                }
            }
            if planner.written != truth() { return "written is not what was written" }
            if !planner.claimed.isSubset(of: planner.written) { return "claims too much" }
            for index in 0..<total {
                var isForgotten = false
                if case .forgotten = bytes[Int(index)] { isForgotten = true }
                if planner.withheld.contains(index) != isForgotten { return "byte \(index) is withheld wrongly" }
            }
            // Every byte is in exactly one place.
            let parts =
                segments.map { reach($0.value).subtracting(planner.written) }
                + [planner.written, planner.withheld, planner.unassigned]
            if parts.reduce(RangeSet(), { $0.union($1) }) != RangeSet(0..<total) { return "a byte is nowhere" }
            if parts.reduce(0, { $0 + $1.byteCount }) != total { return "a byte is in two places" }
            return nil
        }
        func reach(_ segment: SegmentPlanner.Segment) -> RangeSet<ByteCount> {
            var set = segment.position < segment.end ? RangeSet(segment.position..<segment.end) : RangeSet()
            if let writing = segment.writing { set.insert(contentsOf: writing) }
            return set
        }
        func settle(_ id: ConnectionID, fails: Bool) {
            guard let range = planner.segments[id]?.writing else { return }
            for index in range {
                guard case .writing(id, let doubtful) = bytes[Int(index)] else { continue }
                bytes[Int(index)] = fails || doubtful ? .missing : .written
            }
            if fails { planner.writeFailed(id) } else { planner.wrote(id) }
        }
        func allowAll() {
            // Checkpoints and retractions alternate: no snapshot is older than this.
            snapshots = []
            truths = []
            planner.allow(planner.withheld)
            for index in bytes.indices { if case .forgotten = bytes[index] { bytes[index] = .missing } }
        }

        for turn in 0..<4000 {
            let isCalm = turn > 300
            let id = ConnectionID(rawValue: Int(number(1...4)))
            if turn == 301 { allowAll() }
            switch number(0...(isCalm ? 5 : 14)) {
            case 0: _ = planner.assign(id, size: number(1...60))
            case 1, 2:
                if planner.segments[id]?.writing != nil { settle(id, fails: false) }
                switch planner.place(id, count: number(1...30)) {
                case .write(let range):
                    for index in range {
                        guard case .missing = bytes[Int(index)] else { return "byte \(index) given out twice" }
                        bytes[Int(index)] = .writing(id, doubtful: false)
                    }
                case .skip(let count): if count <= 0 { return "skips nothing" }
                case .stop: if planner.segments[id].map({ $0.remaining == 0 }) == true { planner.release(id) }
                }
            case 3: settle(id, fails: false)
            case 4: _ = planner.extend(id)
            case 5:
                if let segment = planner.segments[id], segment.writing == nil, segment.remaining == 0 {
                    planner.release(id)
                }
            case 6: settle(id, fails: true)
            case 7:
                settle(id, fails: Bool.random(using: &random))
                planner.release(id)
            case 8: planner.bound(id, to: number(-5...total + 5))
            case 9:
                snapshots.append(planner.snapshot())
                truths.append(truth())
            case 10 where !snapshots.isEmpty:
                let before = planner.claimed
                planner.claim(snapshots.removeFirst())
                let then = truths.removeFirst()
                if !planner.claimed.subtracting(before).isSubset(of: then) { return "claimed before it was written" }
            case 11 where number(0...5) == 0:
                planner.forgetUnclaimed()
                snapshots = []
                truths = []
                for index in 0..<total {
                    switch bytes[Int(index)] {
                    case .written where !planner.claimed.contains(index): bytes[Int(index)] = .missing
                    case .writing(let writer, _): bytes[Int(index)] = .writing(writer, doubtful: true)
                    default: break
                    }
                }
            case 12 where number(0...2) == 0:
                let start = number(0...total - 1)
                let range = start..<min(total, start + number(1...50))
                planner.forget(RangeSet(range))
                for index in range { if case .written = bytes[Int(index)] { bytes[Int(index)] = .forgotten } }
            case 13: allowAll()
            default: planner.answered(id, to: number(0...total))
            }
            if let problem = check() { return "\(problem), turn \(turn)" }
            if isCalm && planner.isComplete { return planner.remainingBytes == 0 ? nil : "complete, and bytes remain" }
        }
        return "not all was fetched"
    }

    @Test("SegmentPlanner: a stream skips held ranges and stops where another connection's range begins")
    func streams() {
        var planner = SegmentPlanner(total: 100, claimed: RangeSet(20..<30))
        let id = ConnectionID(rawValue: 1)
        planner.assignStream(id, from: 0, asked: 100)
        #expect(planner.place(id, count: 50) == .write(0..<20))
        #expect(planner.place(id, count: 50) == .stop, "one write at a time")
        planner.wrote(id)
        #expect(planner.place(id, count: 30) == .skip(count: 10))
        planner.bound(id, to: 40)
        #expect(planner.assign(ConnectionID(rawValue: 2), size: 1000) == 40..<100)
        #expect(planner.place(id, count: 50) == .write(30..<40))
        planner.wrote(id)
        #expect(planner.place(id, count: 40) == .stop && !planner.extend(id))
        planner.release(ConnectionID(rawValue: 2))
        #expect(planner.extend(id) && planner.place(id, count: 100) == .write(40..<100))
    }

    @Test("SegmentPlanner: lengths near the largest Int64 do not overflow")
    func largest() {
        var planner = SegmentPlanner(total: nil)
        let id = ConnectionID(rawValue: 1)
        planner.assignStream(id, from: .max - 10, asked: .max)
        #expect(planner.place(id, count: 5) == .write(.max - 10 ..< .max - 5))
        planner.wrote(id)
        #expect(planner.place(id, count: .max) == .write(.max - 5 ..< .max))
        let rest = planner.assign(ConnectionID(rawValue: 2), size: .max)
        #expect(rest?.lowerBound == 0 && rest?.upperBound == ByteCount.max - 10)
        #expect(planner.remainingBytes == nil && !planner.isComplete)
    }

    @Test("SegmentPlanner: a write in progress while a sync fails does not count as written")
    func doubtfulWrite() {
        var planner = SegmentPlanner(total: 10)
        let id = ConnectionID(rawValue: 1)
        _ = planner.assign(id, size: 10)
        #expect(planner.place(id, count: 4) == .write(0..<4))
        planner.forgetUnclaimed()
        planner.wrote(id)
        #expect(planner.written.isEmpty && planner.unassigned == RangeSet(0..<4))
    }

    @Test("SegmentPlanner: forgotten ranges are neither written, claimed nor assigned until they are allowed")
    func forgotten() {
        var planner = SegmentPlanner(total: 100)
        let (one, other) = (ConnectionID(rawValue: 1), ConnectionID(rawValue: 2))
        planner.assignStream(one, from: 0, asked: 100)
        #expect(planner.place(one, count: 60) == .write(0..<60))
        planner.wrote(one)
        let snapshot = planner.snapshot()
        planner.forget(RangeSet(20..<40))
        planner.claim(snapshot)
        #expect(planner.claimed == RangeSet([0..<20, 40..<60]))
        planner.release(one)
        #expect(planner.assign(one, size: 100) == 60..<100)
        #expect(planner.assign(other, size: 100) == nil)
        // A stream that skips held bytes must not change them either.
        planner.assignStream(other, from: 0, asked: 50)
        #expect(planner.place(other, count: 50) == .skip(count: 20))
        #expect(planner.place(other, count: 30) == .stop)
        planner.allow(RangeSet(20..<40))
        #expect(planner.place(other, count: 30) == .write(20..<40))
        planner.wrote(other)
        #expect(planner.written == RangeSet(0..<60) && planner.claimed == RangeSet([0..<20, 40..<60]))
    }

    @Test("SegmentPlanner: forgetting a range that was never written withholds nothing")
    func forgetsNothing() {
        var planner = SegmentPlanner(total: 10, claimed: RangeSet(0..<2))
        planner.forget(RangeSet(4..<8))
        #expect(planner.withheld.isEmpty && planner.unassigned == RangeSet(2..<10))
    }
}
