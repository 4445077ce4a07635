import FerryCore
import Testing

@Suite("TransferMachine in random worlds", .timeLimit(.minutes(30)))
struct TransferMachineWorldTests {
    @Test("TransferMachine: every random run ends, and a finished file is of one version", arguments: 0..<8)
    func randomWorlds(batch: Int) {
        var failures: [String: Int] = [:]
        for number in 0..<60 {
            let seed = UInt64(batch * 60 + number)
            var world = RandomWorld.make(seed: seed)
            let outcome = world.run()
            #expect(world.violations == [], "seed \(seed)")
            #expect(outcome != .tooLong, "seed \(seed): phase \(world.machine.phase), \(world.events.suffix(5))")
            if outcome == .finished {
                let isOfOnePiece = world.isOfOnePiece
                #expect(
                    isOfOnePiece,
                    "seed \(seed): proof \(world.machine.file.proof), \(world.origins.map(\.validator)), \(world.events)"
                )
            }
            if case .failed(let error) = outcome {
                failures[error.code.rawValue, default: 0] += 1
                // Where the first source can be resumed under a strong validator, attempts do not run out.
                let first = world.origins[0]
                let isResumable =
                    [.strong, .oldDate].contains(first.validator) && first.ranges == .honoured && !first.isChunked
                #expect(error.code != .network || !isResumable, "seed \(seed): \(error), \(world.events.suffix(30))")
                #expect(RandomWorld.expected.contains(error.code), "seed \(seed): \(error)")
            }
            if !world.violations.isEmpty { return }
        }
        print("batch \(batch): failures \(failures)")
    }

    @Test(
        "TransferMachine: with wrong digests no forgotten byte is trusted, claimed or assigned too early",
        arguments: 0..<4)
    func spoiledWorlds(batch: Int) {
        var forgotten = 0
        for number in 0..<30 {
            let seed = UInt64(batch * 30 + number)
            var world = RandomWorld.make(seed: seed)
            for index in world.origins.indices { world.origins[index].spoils = 0.15 }
            let outcome = world.run()
            #expect(world.violations == [], "seed \(seed)")
            #expect(outcome != .tooLong, "seed \(seed): phase \(world.machine.phase), \(world.events.suffix(5))")
            if outcome == .finished { #expect(world.isOfOnePiece, "seed \(seed)") }
            if case .failed(let error) = outcome {
                #expect(RandomWorld.expected.union([.checksum]).contains(error.code), "seed \(seed): \(error)")
            }
            forgotten += world.forgotten
            if !world.violations.isEmpty { return }
        }
        #expect(forgotten > 0)
    }
}

/// Worlds with faults of all kinds.
enum RandomWorld {
    static let expected: Set<DownloadError.Code> = [.network, .refused, .remoteChanged, .freshLink, .conflict]

    static func make(seed: UInt64) -> World {
        var random = SeededBytes(seed: seed)
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let size = ByteCount.random(in: 1...(90 << 20), using: &random)
        let origins = (0..<(chance(0.3) ? 2 : 1)).map { index -> ModelOrigin in
            var origin = ModelOrigin()
            origin.size = size
            if index > 0 && chance(0.3) { origin.content = 100 }
            origin.validator = ModelOrigin.Validator.allCases.randomElement(using: &random) ?? .strong
            origin.hasTwoNodes = chance(0.1)
            origin.latency = Double.random(in: 0.01...0.3, using: &random)
            origin.connectionRate = [1e6, 5e6, 50e6].randomElement(using: &random) ?? 1e6
            origin.totalRate = [5e6, 50e6, 500e6].randomElement(using: &random) ?? 1e6
            origin.isBursty = chance(0.1)
            origin.isChunked = chance(0.1)
            origin.tellsTotal = chance(0.9)
            if chance(0.3) { origin.breaks = Double.random(in: 0...0.2, using: &random) }
            if chance(0.1) { origin.stalls = 0.02 }
            if chance(0.2) { origin.refusals = 0.2 }
            switch Int.random(in: 0..<16, using: &random) {
            case 0, 1: origin.ranges = .ignored
            case 2, 3: origin.ranges = .flaky(0.3)
            case 4: origin.ranges = .capped(3 << 20)
            case 5: origin.ranges = .misplaced(0.4)
            case 6: origin.ranges = .overlong
            case 7: origin.ranges = .short(2 << 20)
            default: break
            }
            if chance(0.2) { origin.ifRange = chance(0.5) ? .disliked : .ignored }
            if chance(0.3) {
                origin.maxOpen = Int.random(in: 1...5, using: &random)
                origin.excess =
                    [.refuse, .reset, .busy(429), .busy(503), .hang].randomElement(using: &random) ?? .refuse
                if chance(0.5) { origin.retryAfter = 3 }
            }
            if chance(0.2) { origin.linkLife = 2 }
            if chance(0.2) && index == 0 {
                for number in 1...Int.random(in: 1...3, using: &random) {
                    let same = chance(0.5)
                    origin.changes.append(
                        (
                            Double(number) * Double.random(in: 0.2...4, using: &random),
                            same ? size : ByteCount.random(in: 1...(40 << 20), using: &random)
                        ))
                }
                origin.changes.sort { $0.at < $1.at }
            }
            return origin
        }
        var settings = TransferMachine.Settings()
        settings.sources = origins.count
        settings.maxConnections = [1, 2, 8, 16].randomElement(using: &random) ?? 16
        settings.stallTimeout = .seconds(20)
        return World(TransferMachine(settings: settings), origins, seed: seed)
    }
}
