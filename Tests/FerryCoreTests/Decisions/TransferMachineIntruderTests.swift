import FerryCore
import HTTPTypes
import Testing

/// Responses that are not of the file: to one of several connections, or to a resume.
@Suite("TransferMachine: responses that are not of the file", .timeLimit(.minutes(30)))
struct TransferMachineIntruderTests: ScenarioSuite {
    /// A node answered further connections with 17 bytes of JSON, which became the file.
    @Test(
        "TransferMachine: an answer without a validator to a further connection ends that one, and the others go on",
        arguments: [ModelOrigin.Excess.document(17), .document(0), .document(90 << 20), .vanished], [1, 3])
    func furtherConnection(excess: ModelOrigin.Excess, most: Int) {
        for seed in 0..<10 {
            let (world, outcome) = run(
                origin {
                    ($0.size, $0.connectionRate, $0.maxOpen, $0.excess) = (200 << 20, 5e6, most, excess)
                    $0.breaks = 0.02
                }, seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0, "seed \(seed): \(outcome)")
            #expect(world.machine.bytes.total == 200 << 20 && world.file[0] == nil)
            #expect(world.requests < 300, "\(world.requests)")
        }
    }

    @Test(
        "TransferMachine: a resume that gets a document without a validator is a dead link, and the held bytes stay",
        arguments: ["\"a1\"", "W/\"1\""], [0, 17, 90 << 20] as [ByteCount])
    func resumed(tag: String, size: ByteCount) {
        let (held, file) = heldPart(tag)
        let (world, outcome) = run(origin { $0.document = size }, held: held, total: 40 << 20, file: file)
        #expect(code(outcome) == .freshLink && world.restarts == 0)
        #expect(world.machine.bytes.writtenBytes == 10_000_000)
    }

    @Test(
        "TransferMachine: a resume that gets another length under the held tag is a dead link, and the held bytes stay",
        arguments: [0, 5, 20 << 20, 90 << 20] as [ByteCount], [false, true])
    func inconsistent(size: ByteCount, strict: Bool) throws {
        let (held, _) = heldPart()
        var settings = TransferMachine.Settings()
        settings.rules.trust.strict = strict
        var machine = TransferMachine(settings: settings, held: held, total: 40 << 20)
        let (id, fetch) = try open(&machine)
        #expect(answer(head(200, (.contentLength, "\(size)"), (.eTag, "\"a1\"")), fetch, id, &machine) == .leave)
        guard case .failing(let error) = machine.phase else { throw Unexpected() }
        #expect(error.code == .freshLink && machine.bytes.writtenBytes == 10_000_000)
    }

    @Test("TransferMachine: a whole body under the held tag that is shorter than the held bytes is a dead link")
    func shorterBody() throws {
        let ranges = RangeSet<ByteCount>(0..<10_000_000)
        let held = PartialContent(identity: FileIdentity(etag: "\"a1\""), ranges: ranges)
        var machine = TransferMachine(settings: TransferMachine.Settings(), held: held)
        let (id, first) = try open(&machine)
        let empty = head(200, (.transferEncoding, "chunked"), (.eTag, "\"a1\""))
        #expect(answer(empty, first, id, &machine) == .drop)
        guard case .fetch(let second) = machine.next(for: id, at: .seconds(1)) else { throw Unexpected() }
        #expect(answer(empty, second, id, &machine, at: .seconds(1)) == .read)
        machine.ended(id, .complete, at: .seconds(1), random: 0.5)
        guard case .failing(let error) = machine.phase else { throw Unexpected() }
        #expect(error.code == .freshLink && machine.bytes.writtenBytes == 10_000_000)
    }

    @Test("TransferMachine: a conditional request that gets another length under its own tag leaves the finished file")
    func finishedFile() throws {
        let finished = FileIdentity(etag: "\"a1\"", totalBytes: 40 << 20)
        var machine = TransferMachine(settings: TransferMachine.Settings(), finished: finished)
        let (id, fetch) = try open(&machine)
        #expect(fetch.unless == finished)
        #expect(answer(head(200, (.contentLength, "0"), (.eTag, "\"a1\"")), fetch, id, &machine) == .leave)
        guard case .failing(let error) = machine.phase else { throw Unexpected() }
        #expect(error.code == .freshLink)
    }

    @Test(
        "TransferMachine: after a change of the file, a document without a validator or with the old one is no new version",
        arguments: [nil, "\"a1\""])
    func afterChange(tag: String?) throws {
        let (held, _) = heldPart()
        var machine = TransferMachine(settings: TransferMachine.Settings(), held: held, total: 40 << 20)
        let (id, fetch) = try open(&machine)
        var changed = head(206, (.contentRange, "bytes 10000000-41943039/41943040"), (.eTag, "\"b\""))
        changed.headers[.contentLength] = "\((40 << 20) - 10_000_000)"
        #expect(answer(changed, fetch, id, &machine) == .leave)
        machine.ended(id, .stopped, at: .zero, random: 0.5)
        machine.left(id, at: .zero)
        guard case .open(let second)? = machine.tick(at: .seconds(1)).first,
            case .restart = machine.next(for: second, at: .seconds(1))
        else { throw Unexpected() }
        machine.restarted()
        guard case .fetch(let whole) = machine.next(for: second, at: .seconds(1)) else { throw Unexpected() }
        var intruder = head(200, (.contentLength, "17"))
        intruder.headers[.eTag] = tag
        #expect(answer(intruder, whole, second, &machine) == .leave)
        guard case .failing(let error) = machine.phase else { throw Unexpected() }
        #expect(error.code == .freshLink)
    }

    @Test("TransferMachine: while others deliver, another strong tag counts as a change at the second request in a row")
    func confirmation() throws {
        var machine = TransferMachine(settings: TransferMachine.Settings())
        let (first, fetch) = try open(&machine)
        let size: ByteCount = 4 << 30
        let file = head(200, (.contentLength, "\(size)"), (.eTag, "\"a\""))
        guard case .begin = answer(file, fetch, first, &machine, at: .milliseconds(300)) else { throw Unexpected() }
        machine.arrived(1 << 20, on: first, at: .milliseconds(400))
        guard case .write = machine.place(1 << 20, on: first) else { throw Unexpected() }
        machine.wrote(on: first)
        let opened = machine.tick(at: .milliseconds(500)).compactMap { command in
            if case .open(let id) = command { id } else { nil }
        }
        let id = try #require(opened.first)
        let other = head(200, (.contentLength, "\(size)"), (.eTag, "\"b\""))
        func ask() throws -> TransferMachine.Fetch {
            guard case .fetch(let fetch) = machine.next(for: id, at: .milliseconds(500)) else { throw Unexpected() }
            return fetch
        }
        #expect(answer(other, try ask(), id, &machine) == .drop)
        // A response of the file disproves the claim.
        let right = try ask()
        let range = try #require(right.ask.field).dropFirst(6)
        let end = try #require(range.split(separator: "-").last.flatMap { ByteCount($0) })
        let part = head(206, (.contentRange, "bytes \(range)/\(size)"), (.eTag, "\"a\""))
        #expect(right.ask.start <= end && answer(part, right, id, &machine) == .read)
        machine.ended(id, .broken("reset"), at: .milliseconds(500), random: 0.5)
        #expect(machine.phase == .running)
        let next = try #require(opened.dropFirst().first)
        func askNext() throws -> TransferMachine.Fetch {
            guard case .fetch(let fetch) = machine.next(for: next, at: .milliseconds(600)) else { throw Unexpected() }
            return fetch
        }
        #expect(answer(other, try askNext(), next, &machine) == .drop)
        #expect(machine.phase == .running)
        #expect(answer(other, try askNext(), next, &machine) == .leave)
        guard case .reopening = machine.phase else { throw Unexpected() }
    }

    @Test("TransferMachine: with another tag for each response, a cut download goes on after samples")
    func ownTags() {
        for seed in 0..<10 {
            let (world, outcome) = run(
                origin { ($0.hasOwnTags, $0.size, $0.breaks, $0.connectionRate) = (true, 60 << 20, 0.1, 20e6) },
                seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0, "seed \(seed): \(outcome)")
            #expect(world.machine.receivedBytes < 70 << 20, "\(world.machine.receivedBytes)")
        }
    }

    @Test(
        "TransferMachine: an expired redirect target of any status leads back to the original URL",
        arguments: [400, 403, 405, 412, 451])
    func expiredTarget(status: Int) {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate, $0.linkLife, $0.deadStatus) = (300 << 20, 5e6, 1, status) })
        #expect(outcome == .finished && world.restarts == 0)
    }

    @Test(
        "TransferMachine: a host that refuses from the start is given up soon, if nothing is held",
        arguments: [false, true])
    func refused(isHeld: Bool) {
        let (held, file) = heldPart()
        let (world, outcome) = run(
            origin { ($0.maxOpen, $0.excess) = (0, .refuse) }, settings: { $0.maxFirstRetries = 3 },
            held: isHeld ? held : nil, total: isHeld ? 40 << 20 : nil, file: isHeld ? file : [:])
        #expect(code(outcome) == .network && world.requests == (isHeld ? 11 : 4), "\(world.requests)")
    }

    @Test("TransferMachine: a host that answers 503 gets all attempts")
    func answeredBefore() {
        let (world, outcome) = run(
            origin { ($0.maxOpen, $0.excess) = (0, .busy(503)) }, settings: { $0.maxFirstRetries = 3 })
        #expect(code(outcome) == .refused && world.requests == 11)
    }

    private struct Unexpected: Error {}

    private func open(_ machine: inout TransferMachine) throws -> (ConnectionID, TransferMachine.Fetch) {
        guard case .open(let id)? = machine.tick(at: .zero).first,
            case .fetch(let fetch) = machine.next(for: id, at: .zero)
        else { throw Unexpected() }
        return (id, fetch)
    }

    private func answer(
        _ head: ResponseHead, _ fetch: TransferMachine.Fetch, _ id: ConnectionID, _ machine: inout TransferMachine,
        at now: Duration = .milliseconds(500)
    ) -> TransferMachine.HeadAction {
        let verdict = ResponseVerdict.judge(head, asked: fetch.ask, now: ModelOrigin.epoch)
        return machine.headReceived(verdict, on: id, at: now, random: 0.5)
    }
}
