import FerryCore
import Testing

@Suite("TransferMachine: known situations", .timeLimit(.minutes(30)))
struct TransferMachineScenarioTests: ScenarioSuite {
    @Test("TransferMachine: one uninterrupted response needs one request and is its own proof")
    func single() {
        let (world, outcome) = run(ModelOrigin()) { $0.maxConnections = 1 }
        #expect(outcome == .finished && world.requests == 1 && world.machine.file.proof == .single)
    }

    @Test("TransferMachine: a server that ignores Range on some connections is used without a restart")
    func flakyRanges() {
        for seed in 0..<20 {
            let (world, outcome) = run(origin { ($0.ranges, $0.size) = (.flaky(0.5), 300 << 20) }, seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0 && world.isOfOnePiece)
        }
    }

    @Test("TransferMachine: a 206 that starts at another byte is never written")
    func misplaced() {
        for seed in 0..<20 {
            let (world, outcome) = run(
                origin { ($0.ranges, $0.size, $0.breaks) = (.misplaced(0.7), 100 << 20, 0.02) }, seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0)
        }
    }

    @Test("TransferMachine: a file that changes under several connections restarts once and is of one version")
    func change() {
        for seed in 0..<20 {
            let (world, outcome) = run(
                origin { ($0.size, $0.totalRate, $0.changes) = (400 << 20, 60e6, [(at: 3, size: 300 << 20)]) },
                seed: UInt64(seed))
            #expect(outcome == .finished && world.isOfOnePiece && world.restarts == 1)
            #expect(world.machine.bytes.total == 300 << 20)
        }
    }

    @Test("TransferMachine: parts that end early are kept, and the rest is requested")
    func capped() {
        let (world, outcome) = run(origin { ($0.size, $0.ranges) = (100 << 20, .capped(1 << 20)) })
        #expect(outcome == .finished && world.restarts == 0)
        let (other, end) = run(origin { ($0.size, $0.ranges) = (100 << 20, .short(1 << 20)) })
        #expect(end == .finished && other.restarts == 0)
    }

    @Test("TransferMachine: a body that continues past its part is closed, and no byte is written twice")
    func overlong() {
        let (_, outcome) = run(origin { ($0.size, $0.ranges) = (200 << 20, .overlong) })
        #expect(outcome == .finished)
    }

    @Test("TransferMachine: without a total the download ends at a 416, without proof")
    func unknownTotal() {
        let (world, outcome) = run(
            origin { ($0.isChunked, $0.tellsTotal, $0.breaks, $0.ranges) = (true, false, 0.05, .capped(3 << 20)) })
        #expect(outcome == .finished && world.machine.bytes.total == 40 << 20)
        #expect(world.machine.file.proof == .none || world.restarts > 0)
    }

    @Test("TransferMachine: bytes of a failed sync at the end of the file are fetched again")
    func lostAtTheEnd() throws {
        var machine = TransferMachine(settings: TransferMachine.Settings())
        guard case .open(let id)? = machine.tick(at: .zero).first,
            case .fetch(let fetch) = machine.next(for: id, at: .zero)
        else { throw Unexpected() }
        var origin = ModelOrigin()
        origin.size = 1000
        var random = SeededBytes(seed: 1)
        guard case .answer(let head, _) = origin.reply(to: fetch.ask, ifRange: nil, at: 0, random: &random) else {
            throw Unexpected()
        }
        let verdict = ResponseVerdict.judge(head, asked: fetch.ask, now: ModelOrigin.epoch)
        _ = machine.headReceived(verdict, on: id, at: .zero, random: 0.5)
        machine.arrived(1000, on: id, at: .zero)
        guard case .write = machine.place(1000, on: id) else { throw Unexpected() }
        let snapshot = machine.beginCheckpoint(at: .zero)
        machine.wrote(on: id)
        machine.ended(id, .complete, at: .zero, random: 0.5)
        #expect(machine.bytes.isComplete)
        machine.left(id, at: .zero)
        machine.checkpointEnded(snapshot, succeeded: false, at: .zero)
        let commands = machine.tick(at: .seconds(1))
        #expect(commands.contains { if case .open = $0 { true } else { false } })
        #expect(!commands.contains { if case .finish = $0 { true } else { false } })
    }

    private struct Unexpected: Error {}

    /// A tick is 0.05 s of virtual time.
    @Test(
        "TransferMachine: bytes are claimed within 1 s, below 1 MB/s within 10 s, and from 32 MiB at once",
        arguments: [(5e6, 60 << 20, 1.0), (300e3, 20 << 20, 10.0), (200e6, 1 << 30, 0.2)]
            as [(Double, ByteCount, Double)])
    func checkpoints(rate: Double, size: ByteCount, interval: Double) {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate, $0.totalRate) = (size, rate, rate) },
            settings: { $0.maxConnections = 1 })
        #expect(outcome == .finished)
        let times = [0] + world.checkpoints.map(\.at)
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(gaps.count > 3)
        // The first interval begins with the run, before any byte has arrived.
        #expect(gaps.dropFirst().allSatisfy { $0 <= interval + 0.1 }, "\(gaps)")
        #expect(gaps.dropFirst().dropLast().allSatisfy { $0 >= interval - 0.1 }, "\(gaps)")
        #expect(world.checkpoints.allSatisfy { $0.bytes <= (32 << 20) + ByteCount(rate * 0.15) })
    }

    @Test("TransferMachine: after broken connections the received bytes are kept, and none is fetched twice")
    func breaks() {
        let (world, outcome) = run(origin { ($0.size, $0.breaks) = (200 << 20, 0.1) })
        #expect(outcome == .finished && world.restarts == 0 && world.machine.file.proof == .strong)
        #expect(world.machine.receivedBytes < 201 << 20)
    }

    @Test(
        "TransferMachine: a server that allows K connections is used with about K until the file is complete",
        arguments: [1, 3, 6], [ModelOrigin.Excess.refuse, .reset, .busy(429), .busy(503)])
    func bounded(most: Int, excess: ModelOrigin.Excess) {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate, $0.maxOpen, $0.excess) = (600 << 20, 5e6, most, excess) })
        #expect(outcome == .finished && world.restarts == 0)
        let late = world.counts.dropFirst(200)
        #expect(late.count { $0 >= most - 1 } * 10 > late.count * 7, "\(late.prefix(60))")
        #expect(world.requests < 600, "\(world.requests)")
    }

    @Test(
        "TransferMachine: per-connection throttling, steady or bursty, leads to 16 connections within four seconds",
        arguments: [false, true])
    func throttled(isBursty: Bool) {
        for seed in 0..<10 {
            let (world, outcome) = run(
                origin {
                    ($0.size, $0.connectionRate, $0.totalRate, $0.isBursty) = (400 << 20, 1e6, 1e9, isBursty)
                }, seed: UInt64(seed))
            #expect(outcome == .finished)
            #expect(world.counts.prefix(80).contains(16), "\(world.counts.prefix(120))")
            #expect(world.now < 45, "\(world.now)")
        }
    }

    @Test("TransferMachine: a server that answers one connection at a time finishes without long waits")
    func singleThreaded() {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate, $0.maxOpen, $0.excess) = (200 << 20, 10e6, 1, .hang) })
        #expect(outcome == .finished && world.now < 40, "\(world.now)")
    }

    /// Requests that wait count as open, so that no later one was answered before all of them had timed out.
    @Test("TransferMachine: a server that never answers a second connection finishes without long waits")
    func muted() {
        for seed in 0..<40 {
            let (world, outcome) = run(
                origin {
                    ($0.size, $0.connectionRate, $0.maxOpen, $0.excess, $0.breaks) = (200 << 20, 10e6, 1, .mute, 0.2)
                }, seed: UInt64(seed))
            #expect(outcome == .finished && world.now < 60, "seed \(seed): \(world.now)")
        }
    }

    @Test("TransferMachine: on a short link that one connection fills, further connections are soon closed")
    func fastLink() {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate, $0.totalRate, $0.latency) = (2 << 30, 100e6, 100e6, 0.005) },
            step: 0.005)
        #expect(outcome == .finished)
        #expect(world.peak <= 3, "\(world.peak)")
        let one = world.counts.count { $0 <= 1 }
        #expect(one * 2 > world.counts.count, "\(one) of \(world.counts.count)")
    }

    @Test("TransferMachine: a server without ranges whose connections always break is given up")
    func sameBreak() {
        for validator in ModelOrigin.Validator.allCases {
            let (_, outcome) = run(
                origin { ($0.size, $0.breaks, $0.ranges, $0.validator) = (4 << 30, 0.5, .ignored, validator) })
            #expect(code(outcome) == .network)
        }
    }

    @Test("TransferMachine: a failed sync takes back the bytes it covered, and they are fetched again")
    func syncFailure() {
        var world = World(
            TransferMachine(settings: TransferMachine.Settings()), [origin { $0.connectionRate = 3e6 }], seed: 3)
        world.syncFailures = 0.5
        #expect(world.run() == .finished)
        #expect(world.violations == [])
        #expect(world.machine.receivedBytes > 40 << 20)
    }

    @Test("TransferMachine: three changes of the file are followed, and the fourth ends the download")
    func keepsChanging() {
        let (world, outcome) = run(
            origin {
                ($0.connectionRate, $0.breaks) = (1e5, 0.5)
                $0.changes = (1...30).map { (Double($0) * 5, ByteCount(40 << 20) + ByteCount($0)) }
            })
        #expect(code(outcome) == .remoteChanged && world.restarts == 3)
    }

    @Test("TransferMachine: --no-restart fails on a changed file and on one without proof, and keeps the bytes")
    func noRestart() {
        let (held, file) = heldPart()
        var (world, outcome) = run(
            origin { $0.content = 2 }, settings: { $0.rules.trust.failsOnChange = true }, held: held, total: 40 << 20,
            file: file)
        #expect(code(outcome) == .remoteChanged && world.restarts == 0)
        let (bare, _) = heldPart(nil)
        (world, outcome) = run(
            origin { $0.validator = .none }, settings: { $0.rules.trust.failsOnChange = true }, held: bare,
            total: 40 << 20, file: file)
        #expect(code(outcome) == .unproven && world.restarts == 0)
    }

    @Test("TransferMachine: --no-restart fetches an unproven file anew if a digest decides at the end")
    func noRestartWithDigest() {
        let (bare, file) = heldPart(nil)
        let (world, outcome) = run(
            origin { ($0.validator, $0.ranges) = (.none, .ignored) },
            settings: {
                $0.rules.trust.failsOnChange = true
                $0.rules.hasDigest = true
            }, held: bare, total: 40 << 20, file: file)
        #expect(code(outcome) == nil && world.restarts == 1)
    }

    @Test("TransferMachine: a resume with a strong validator needs one request and no samples")
    func resume() {
        let (held, file) = heldPart()
        let (world, outcome) = run(
            ModelOrigin(), settings: { $0.maxConnections = 1 }, held: held, total: 40 << 20, file: file)
        #expect(outcome == .finished && world.requests == 1 && world.machine.file.proof == .strong)
        #expect(world.machine.receivedBytes == (40 << 20) - 10_000_000)
    }

    @Test("TransferMachine: a server that rejects If-Range is asked without it, on every connection")
    func disliked() {
        let (held, file) = heldPart()
        let (world, outcome) = run(
            origin { ($0.ifRange, $0.connectionRate) = (.disliked, 2e6) }, held: held, total: 40 << 20, file: file)
        #expect(outcome == .finished && world.restarts == 0 && world.machine.file.proof == .strong)
        #expect(world.counts.max() ?? 0 > 4)
    }

    @Test(
        "TransferMachine: a weak validator is joined after samples, and restarts in strict mode",
        arguments: [false, true])
    func weak(strict: Bool) {
        let (held, file) = heldPart("W/\"1\"")
        let (world, outcome) = run(
            origin { $0.validator = .weak }, settings: { $0.rules.trust.strict = strict }, held: held, total: 40 << 20,
            file: file)
        #expect(outcome == .finished && world.restarts == (strict ? 1 : 0))
        #expect(world.machine.file.proof == (strict ? .single : .sampled))
    }

    @Test("TransferMachine: without a validator it restarts, unless samples may decide", arguments: [false, true])
    func unvalidated(resumesUnproven: Bool) {
        let (held, file) = heldPart(nil)
        let (world, outcome) = run(
            origin { $0.validator = .none }, settings: { $0.rules.trust.resumesUnproven = resumesUnproven }, held: held,
            total: 40 << 20, file: file)
        #expect(outcome == .finished && world.restarts == (resumesUnproven ? 0 : 1))
        #expect(world.machine.file.proof == (resumesUnproven ? .sampled : .single))
    }

    @Test(
        "TransferMachine: --unproven fetches parts without a validator and reports no proof", arguments: [false, true])
    func unproven(strict: Bool) {
        let (world, outcome) = run(origin { ($0.validator, $0.connectionRate) = (.none, 2e6) }) {
            ($0.rules.trust.allowsUnprovenParts, $0.rules.trust.strict) = (true, strict)
        }
        #expect(outcome == .finished && world.machine.file.proof == (strict ? .single : .none))
        #expect(world.peak > 4 || strict)
    }

    @Test("TransferMachine: a new source is used when samples match, and is a conflict when they differ")
    func newSource() {
        let (_, file) = heldPart()
        let held = PartialContent(identity: FileIdentity(totalBytes: 40 << 20), ranges: file[1] ?? RangeSet())
        var (world, outcome) = run(
            ModelOrigin(), settings: { $0.isNewSource = true }, held: held, total: 40 << 20, file: file)
        #expect(outcome == .finished && world.machine.file.proof == .sampled && world.restarts == 0)
        (world, outcome) = run(
            origin { $0.content = 9 }, settings: { $0.isNewSource = true }, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .conflict && world.restarts == 0)
        (world, outcome) = run(
            origin { $0.isDead = true }, settings: { $0.isNewSource = true }, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .freshLink && world.requests == 1)
    }

    @Test("TransferMachine: a moved part is compared by samples first, even when nothing is missing")
    func moved() {
        let (held, file) = heldPart()
        var (world, outcome) = run(
            ModelOrigin(), settings: { $0.doubtsHeld = true }, held: held, total: 40 << 20, file: file)
        #expect(outcome == .finished && world.machine.file.proof == .sampled && world.restarts == 0)
        let whole = PartialContent(identity: held.identity, ranges: RangeSet(0..<(40 << 20)))
        (world, outcome) = run(
            origin { $0.content = 2 }, settings: { $0.doubtsHeld = true }, held: whole, total: 40 << 20,
            file: [1: whole.ranges])
        #expect(outcome == .finished && world.restarts == 1 && world.machine.file.proof == .strong)
    }

    /// A size that a list had wrong, or that was added to it after a pause, was ignored, so the file counted as complete.
    @Test(
        "TransferMachine: a resumed file of another size than the expected one fails, and the held bytes stay",
        arguments: [20 << 20, 41 << 20] as [ByteCount])
    func otherSize(expected: ByteCount) {
        let (held, file) = heldPart()
        let (world, outcome) = run(
            ModelOrigin(), settings: { $0.expectedBytes = expected }, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .checksum && world.machine.bytes.writtenBytes == 10_000_000)
    }

    @Test("TransferMachine: a complete part file needs no request")
    func complete() {
        let held = PartialContent(identity: FileIdentity(etag: "\"a1\"", totalBytes: 9), ranges: RangeSet(0..<9))
        let (world, outcome) = run(origin { $0.size = 9 }, held: held, total: 9, file: [1: held.ranges])
        #expect(outcome == .finished && world.requests == 0)
    }

    @Test("TransferMachine: an expired redirect target is resolved again through the original URL")
    func expiring() {
        let (world, outcome) = run(origin { ($0.size, $0.connectionRate, $0.linkLife) = (300 << 20, 5e6, 1) })
        #expect(outcome == .finished && world.restarts == 0)
    }

    @Test("TransferMachine: a dead link is requested once, and the held bytes stay")
    func dead() {
        let (held, file) = heldPart()
        let (world, outcome) = run(origin { $0.isDead = true }, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .freshLink && world.requests == 1 && world.restarts == 0)
    }

    @Test("TransferMachine: a mirror with another file is dropped without a restart, and one with the same is used")
    func mirrors() {
        let first = origin { ($0.size, $0.connectionRate) = (200 << 20, 3e6) }
        var other = first
        var (world, outcome) = run(first, other)
        #expect(outcome == .finished && world.isOfOnePiece)
        other.content = 50
        (world, outcome) = run(first, other)
        #expect(outcome == .finished && world.isOfOnePiece && world.restarts == 0)
    }

    @Test("TransferMachine: a changed file ends the trust in mirrors of the old version")
    func staleMirror() {
        for seed in 0..<20 {
            var first = origin { ($0.size, $0.connectionRate) = (200 << 20, 3e6) }
            let mirror = first
            first.changes = [(at: 5, size: 200 << 20)]
            let (world, outcome) = run(first, mirror, seed: UInt64(seed))
            #expect(outcome == .finished && world.isOfOnePiece && world.restarts <= 1)
        }
    }

    @Test("TransferMachine: when every source is dead the download fails for want of a fresh link")
    func allDead() {
        let gone = origin { $0.isDead = true }
        let (held, file) = heldPart()
        let (_, outcome) = run(gone, gone, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .freshLink)
    }

    @Test("TransferMachine: parts with a wrong digest are taken back and fetched again")
    func spoiled() {
        var taken = 0
        for seed in 0..<20 {
            let (world, outcome) = run(
                origin { ($0.size, $0.connectionRate, $0.totalRate, $0.spoils) = (300 << 20, 4e6, 60e6, 0.02) },
                seed: UInt64(seed))
            #expect(
                outcome == .finished && world.restarts == 0 && world.isOfOnePiece, "seed \(seed): \(outcome)")
            taken += world.forgotten
        }
        #expect(taken > 5)
    }

    @Test("TransferMachine: a server whose digests are always wrong fails with both digests")
    func alwaysSpoiled() {
        for limit in [1, 8] {
            let (world, outcome) = run(
                origin { ($0.size, $0.connectionRate, $0.spoils) = (100 << 20, 8e6, 1) },
                settings: { $0.maxConnections = limit })
            #expect(code(outcome) == .checksum, "\(outcome)")
            #expect(world.machine.receivedBytes < 500 << 20)
            guard case .failed(let error) = outcome else { continue }
            #expect(error.message.contains("expected a, got b"))
        }
    }

    @Test("TransferMachine: a mirror whose digests are always wrong is dropped, and the other completes the file")
    func spoiledMirror() {
        let good = origin { $0.size = 100 << 20 }
        var bad = good
        bad.spoils = 1
        let (world, outcome) = run(good, bad)
        #expect(outcome == .finished && world.isOfOnePiece)
    }
}
