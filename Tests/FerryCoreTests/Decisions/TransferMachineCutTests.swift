import FerryCore
import HTTPTypes
import Testing

/// Bodies without a length whose TLS connection is closed without close_notify, of a server that ignores ranges.
@Suite("TransferMachine: bodies that are cut off", .timeLimit(.minutes(30)))
struct TransferMachineCutTests {
    private struct Unexpected: Error {}

    private struct Run {
        var machine: TransferMachine
        private(set) var now = Duration.zero

        init(_ change: (inout TransferMachine.Settings) -> Void = { _ in }) {
            var settings = TransferMachine.Settings()
            settings.rules.hasDigest = true
            change(&settings)
            machine = TransferMachine(settings: settings)
        }

        /// Receives bodies of so many bytes, which are cut off. Returns whether the file is complete after each.
        mutating func bodies(of counts: [ByteCount]) throws -> [Bool] {
            var results: [Bool] = []
            for count in counts { results.append(try body(of: count)) }
            return results
        }

        /// Receives a body of so many bytes. Returns whether the file is complete then.
        mutating func body(of count: ByteCount, _ end: TransferMachine.End = .cutOff("cut")) throws -> Bool {
            // After any back-off.
            now += .seconds(100)
            let id = try begin()
            machine.arrived(count, on: id, at: now)
            var left = count
            while left > 0 {
                switch machine.place(left, on: id) {
                case .skip(let skipped): left -= skipped
                case .write(let range):
                    machine.wrote(on: id)
                    left -= range.upperBound - range.lowerBound
                case .stop: throw Unexpected()
                }
            }
            machine.ended(id, end, at: now, random: 0.5)
            machine.left(id, at: now)
            return machine.tick(at: now).contains(.finish)
        }

        private mutating func begin() throws -> ConnectionID {
            let opened = machine.tick(at: now).compactMap { command in
                if case .open(let id) = command { id } else { nil }
            }
            guard let id = opened.first else { throw Unexpected() }
            var head = ResponseHead(status: 200)
            head.headers[.eTag] = "\"a\""
            while true {
                guard case .fetch(let fetch) = machine.next(for: id, at: now) else { throw Unexpected() }
                let verdict = ResponseVerdict.judge(head, asked: fetch.ask, now: ModelOrigin.epoch)
                switch machine.headReceived(verdict, on: id, at: now, random: 0.5) {
                case .begin, .read, .restartWith: return id
                case .drop: machine.ended(id, .stopped, at: now, random: 0.5)
                case .leave, .unchanged: throw Unexpected()
                }
            }
        }

        mutating func cutShort() -> RangeSet<ByteCount>? {
            let forgotten = machine.cutShort(at: now, random: 0.5)
            if let forgotten { machine.allow(forgotten) }
            return forgotten
        }
    }

    @Test("TransferMachine: two bodies cut off at one byte give an end that is assumed until the digest has decided")
    func assumed() throws {
        var run = Run()
        let first = try run.bodies(of: [1000, 1000])
        // A journal does not have the length: another run would believe it.
        #expect(first == [false, true] && run.machine.bytes.total == 1000 && run.machine.provenTotal == nil)
        let forgotten = run.cutShort()
        #expect(forgotten == RangeSet(0..<1000))
        #expect(run.machine.bytes.total == nil && run.machine.bytes.writtenBytes == 0)
        guard case .waiting = run.machine.phase else { throw Unexpected() }
        let second = try run.bodies(of: [3000, 3000])
        run.machine.provedEnd()
        #expect(second == [false, true] && run.machine.provenTotal == 3000)
        #expect(run.machine.file.identity.totalBytes == 3000)
        let none = run.cutShort()
        #expect(none == nil)
    }

    @Test("TransferMachine: an end that the server has sent is not assumed, and neither is a requested size")
    func sent() throws {
        var run = Run()
        _ = try run.body(of: 1000)
        let isComplete = try run.body(of: 1000, .complete)
        let none = run.cutShort()
        #expect(isComplete && run.machine.provenTotal == 1000 && none == nil)
        var sized = Run { $0.expectedBytes = 2000 }
        let results = try sized.bodies(of: [1000, 1000, 1000, 2000])
        let noneOfSized = sized.cutShort()
        #expect(results == [false, false, false, true] && sized.machine.provenTotal == 2000 && noneOfSized == nil)
    }

    @Test("TransferMachine: each assumed end that a digest refutes is a failed attempt")
    func attempts() throws {
        var run = Run { $0.maxRetries = 2 }
        let first = try run.bodies(of: [1000, 1000])
        _ = run.cutShort()
        let second = try run.bodies(of: [1000])
        _ = run.cutShort()
        #expect(first == [false, true] && second == [true])
        guard case .fail(let error)? = run.machine.tick(at: run.now).last else { throw Unexpected() }
        #expect(error.code == .network && error.message.contains("do not match the digest"))
    }

    @Test("TransferMachine: what an output has stays, and the next body goes on behind it")
    func stream() throws {
        var run = Run { $0.isStream = true }
        let results = try run.bodies(of: [1000, 1000])
        let forgotten = run.cutShort()
        #expect(results == [false, true] && forgotten == RangeSet())
        #expect(run.machine.bytes.writtenBytes == 1000 && run.machine.bytes.total == nil)
        let isComplete = try run.body(of: 3000, .complete)
        #expect(isComplete && run.machine.bytes.writtenBytes == 3000)
    }
}
