import FerryCore
import HTTPTypes
import Testing

@Suite("TransferMachine with readers", .timeLimit(.minutes(30)))
struct TransferMachineReadersTests: ScenarioSuite {
    /// Runs a download with readers to its end.
    private func run(
        _ origin: ModelOrigin, _ readers: [ModelReader], connections: Int, held: PartialContent? = nil
    ) -> World {
        var settings = TransferMachine.Settings()
        settings.maxConnections = connections
        var world = World(TransferMachine(settings: settings), [origin], seed: 3)
        world.readers = readers
        #expect(world.run(limit: 4000) == .finished)
        #expect(world.violations == [])
        return world
    }

    /// The bytes and requests between the beginning of a reader and its first bytes.
    private func expense(_ reader: ModelReader) -> (bytes: ByteCount, requests: Int)? {
        guard let begun = reader.begun, let served = reader.served else { return nil }
        return (served.bytes - begun.bytes, served.requests - begun.requests)
    }

    @Test(
        "Readers: random readers get each byte once it is written, of one version, and every run ends",
        arguments: 0..<8)
    func randomReaders(batch: Int) {
        var (served, lost) = (0, 0)
        for number in 0..<40 {
            let seed = UInt64(9000 + batch * 40 + number)
            var random = SeededBytes(seed: seed)
            var world = RandomWorld.make(seed: seed)
            if number % 4 == 0 { for index in world.origins.indices { world.origins[index].spoils = 0.15 } }
            let size = world.origins[0].size
            world.readers = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                let first = ByteCount.random(in: 0..<size, using: &random)
                let end =
                    Bool.random(using: &random)
                    ? ByteCount.max : first + ByteCount.random(in: 0...(4 << 20), using: &random)
                var reader = ModelReader(first..<end, at: Double.random(in: 0...6, using: &random))
                if Bool.random(using: &random) { reader.appetite = ByteCount.random(in: 1...(1 << 20), using: &random) }
                return reader
            }
            let outcome = world.run()
            #expect(world.violations == [], "seed \(seed)")
            #expect(outcome != .tooLong, "seed \(seed): phase \(world.machine.phase), \(world.events.suffix(5))")
            guard outcome == .finished else { continue }
            for index in world.readers.indices { world.readers[index].appetite = .max }
            world.moveReaders()
            for reader in world.readers where reader.id != nil {
                if reader.isLost {
                    lost += 1
                    continue
                }
                served += 1
                let total = world.machine.bytes.total ?? 0
                let end = max(reader.range.lowerBound, min(reader.range.upperBound, total))
                #expect(reader.position == end, "seed \(seed): \(reader)")
                if world.isOfOnePiece { #expect(reader.contents.count <= 1, "seed \(seed): \(reader)") }
            }
            if !world.violations.isEmpty { return }
        }
        #expect(served > 0)
        print("batch \(batch): \(served) readers served, \(lost) lost")
    }

    @Test("Readers: a reader far away is served with the next request, whatever the limit", arguments: [1, 2, 8])
    func farReader(connections: Int) throws {
        let size: ByteCount = 200 << 20
        let origin = origin {
            $0.size = size
            ($0.connectionRate, $0.totalRate) = (2e6, 8e6)
        }
        let world = run(origin, [ModelReader((size / 2)..<(size / 2 + 65536), at: 4)], connections: connections)
        let cost = try #require(expense(world.readers[0]))
        #expect(cost.requests == 1)
        // Less than a second of all connections; in order, the bytes would come last.
        #expect(cost.bytes < 8 << 20)
    }

    @Test("Readers: when all connections are busy, one leaves its segment, and no byte is fetched twice")
    func busyConnections() throws {
        let size: ByteCount = 400 << 20
        let origin = origin {
            $0.size = size
            ($0.connectionRate, $0.totalRate, $0.latency) = (4e6, 32e6, 0.2)
        }
        let readers = [ModelReader((300 << 20)..<(301 << 20), at: 6), ModelReader((390 << 20)..<(391 << 20), at: 9)]
        let world = run(origin, readers, connections: 8)
        for reader in world.readers {
            let cost = try #require(expense(reader))
            #expect(cost.requests <= 2)
        }
        #expect(world.peak <= 8)
        // `World` refuses a byte that is written twice; what a closed connection had in flight was received for nothing.
        #expect(world.machine.receivedBytes - size < 16 << 20)
    }

    @Test("Readers: a reader in order is served by long segments, not by a request for each piece", arguments: [1, 8])
    func reader(connections: Int) {
        let size: ByteCount = 200 << 20
        let origin = origin {
            $0.size = size
            ($0.connectionRate, $0.totalRate) = (4e6, 16e6)
        }
        let without = run(origin, [], connections: connections)
        let world = run(origin, [ModelReader((100 << 20)..<ByteCount.max, at: 3)], connections: connections)
        #expect(world.readers[0].position == size)
        print("\(connections) connections: \(without.requests) requests without a reader, \(world.requests) with one")
        #expect(world.requests <= without.requests * 2 + 16)
        print("the download took \(world.now) s, without a reader \(without.now) s")
        #expect(world.now < without.now * 1.1)
    }

    @Test("Readers: several connections to a server that throttles each fetch what a reader in order needs next")
    func throttled() throws {
        let origin = origin {
            $0.size = 400 << 20
            ($0.connectionRate, $0.totalRate, $0.latency) = (500_000, 100e6, 0.05)
        }
        let world = run(origin, [ModelReader((100 << 20)..<(164 << 20), at: 10)], connections: 16)
        let seconds = try #require(world.readers[0].end) - 10
        // One connection would take 134 s, all of them 8 s.
        print("a reader got 64 MiB in \(seconds) s")
        #expect(seconds < 40)
    }

    @Test("Readers: with one connection, a second reader is served before the first has all")
    func takingTurns() throws {
        let size: ByteCount = 300 << 20
        let origin = origin {
            $0.size = size
            ($0.connectionRate, $0.totalRate) = (4e6, 4e6)
        }
        let readers = [ModelReader((100 << 20)..<(200 << 20), at: 2), ModelReader((250 << 20)..<(251 << 20), at: 4)]
        let world = run(origin, readers, connections: 1)
        let cost = try #require(expense(world.readers[1]))
        #expect(cost.bytes < 40 << 20)
    }

    @Test("Readers: a server whose responses cannot be joined is read in order, and asked no more than twice")
    func sequential() {
        for change in [{ $0.ranges = .ignored }, { $0.validator = .none }] as [(inout ModelOrigin) -> Void] {
            let origin = origin {
                $0.size = 20 << 20
                change(&$0)
            }
            let without = run(origin, [], connections: 8)
            let world = run(origin, [ModelReader((19 << 20)..<ByteCount.max, at: 0.2)], connections: 8)
            #expect(world.requests <= without.requests + 2)
            #expect(world.readers[0].position == 20 << 20)
        }
    }

    @Test("Readers: bytes that are forgotten refute the readers that have them, and no others")
    func forgotten() {
        var machine = TransferMachine(settings: TransferMachine.Settings())
        var head = ResponseHead(status: 200)
        head.headers[.eTag] = "\"a\""
        _ = machine.tick(at: .zero)
        let id = ConnectionID(rawValue: 1)
        _ = machine.next(for: id, at: .zero)
        _ = machine.headReceived(
            .whole(Representation(head, total: 1000)), on: id, at: .zero, random: 0.5)
        machine.arrived(500, on: id, at: .zero)
        let placement = machine.place(500, on: id)
        #expect(placement == .write(0..<500))
        let (first, second) = (machine.addReader(of: 0..<1000), machine.addReader(of: 400..<1000))
        let waits = [machine.readerWaits(first, at: .zero), machine.readerWaits(first, at: .zero)]
        #expect(waits == [true, false])
        #expect(machine.available(to: first, most: 100) == nil)
        let isAwaited = machine.wrote(on: id)
        #expect(isAwaited)
        #expect(machine.available(to: first, most: 100) == 0..<100)
        machine.readerReceived(to: 100, by: first)
        machine.readerReceived(to: 450, by: second)
        machine.forget(RangeSet(0..<50), on: id)
        #expect(machine.readers[first]?.isRefuted == true)
        #expect(machine.readers[second]?.isRefuted == false)
    }
}
