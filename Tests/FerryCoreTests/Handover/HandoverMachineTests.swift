import FerryCore
import Foundation
import HTTPTypes
import Testing

/// Downloads and tasks of one host, as the machine sees them.
struct HandoverFixture {
    static let mib: ByteCount = 1 << 20
    static let identity = FileIdentity(etag: "\"v1\"")
    var random = SeededBytes(seed: 7)
    var machine: HandoverMachine

    init(_ limits: HandoverLimits = HandoverLimits()) { machine = HandoverMachine(limits: limits) }

    static func candidate(
        _ id: String = "a", total: ByteCount? = 100 * HandoverFixture.mib, claimed: RangeSet<ByteCount> = RangeSet(),
        identity: FileIdentity = HandoverFixture.identity
    ) throws -> HandoverCandidate {
        var candidate = HandoverCandidate(
            download: DownloadID(rawValue: id),
            target: HandoverTarget(url: try DownloadURL("https://cdn.test/\(id)")), identity: identity, total: total,
            claimed: claimed)
        candidate.hasRanges = true
        return candidate
    }

    mutating func handOver(_ candidates: [HandoverCandidate]) -> HandoverMachine.Batch {
        machine.handOver(candidates, using: &random)
    }

    /// Begins the tasks of a batch, numbered from 1.
    mutating func begin(_ candidates: [HandoverCandidate]) -> [LeasedRequest] {
        let batch = handOver(candidates)
        for (index, request) in batch.requests.enumerated() { machine.began(request.lease.number, task: index + 1) }
        return batch.requests
    }

    static func task(_ id: Int, _ request: LeasedRequest, received: ByteCount = 0) -> SystemTask {
        SystemTask(id: id, ticket: request.ticket, received: received)
    }
}

@Suite("HandoverMachine")
struct HandoverMachineTests {
    private static let mib = HandoverFixture.mib

    @Test(
        "HandoverMachine: a download that rests before its tasks are listed is cancelled when they are, until it is handed over"
    )
    func rests() throws {
        var fixture = HandoverFixture()
        let candidate = try HandoverFixture.candidate(total: 1000)
        let request = try #require(fixture.begin([candidate]).first)
        var next = HandoverMachine(try #require(LeaseBook([request.lease])))
        #expect(next.takeBack(candidate.download) == [])
        let task = HandoverFixture.task(1, request)
        #expect(next.listed([task], at: .seconds(1)) == [.cancel(task: 1)])
        #expect(next.listed([task], at: .seconds(2)) == [])
        #expect(
            next.ended(task, SystemFailure(code: SystemFailure.cancelled)).first
                == .report(LeaseEnd(lease: request.lease, outcome: .takenBack)))
        let again = next.handOver([candidate], using: &fixture.random)
        let begun = try #require(again.requests.first)
        #expect(next.listed([HandoverFixture.task(2, begun)], at: .seconds(3)) == [])
    }

    @Test(
        "HandoverMachine: in the foreground a task stays that has more than 80 % of its range, and one that has more than all is cancelled"
    )
    func shares() throws {
        for (received, stays) in [(79, false), (81, true), (100, true), (101, false)] as [(ByteCount, Bool)] {
            var fixture = HandoverFixture()
            let request = try #require(fixture.begin([try HandoverFixture.candidate(total: 100)]).first)
            let task = HandoverFixture.task(1, request, received: received)
            #expect(fixture.machine.cameToForeground([task], at: .zero).isEmpty == stays, "\(received)")
        }
    }

    @Test("HandoverMachine: no more is leased than there is space for, beside what is leased already")
    func space() throws {
        var fixture = HandoverFixture()
        let candidates = try ["a", "b"].map { try HandoverFixture.candidate($0, total: 64 * Self.mib) }
        let first = fixture.machine.handOver(candidates, space: 70 * Self.mib, using: &fixture.random)
        #expect(first.requests.map(\.lease.download) == [candidates[0].download, candidates[0].download])
        #expect(first.refusals == [candidates[1].download: .noSpace])
        let second = fixture.machine.handOver([candidates[1]], space: 100 * Self.mib, using: &fixture.random)
        #expect(second.requests.count == 1 && second.refusals == [candidates[1].download: .noSpace])
    }

    @Test("HandoverMachine: the leases of a batch are stored before their tasks begin")
    func stored() throws {
        var fixture = HandoverFixture()
        let batch = fixture.handOver([try HandoverFixture.candidate()])
        let book = try #require(LeaseBook(batch.requests.map(\.lease)))
        #expect(batch.requests.count == 4)
        #expect(batch.actions == [.save(book)])
        #expect(fixture.machine.leased(of: DownloadID(rawValue: "a")) == RangeSet(0..<100 * Self.mib))
    }

    @Test("HandoverMachine: what is leased is not leased again, and an end makes the range free")
    func free() throws {
        var fixture = HandoverFixture()
        let candidate = try HandoverFixture.candidate()
        let requests = fixture.begin([candidate])
        let again = fixture.handOver([candidate])
        #expect(again.refusals == [candidate.download: .nothingMissing])
        let task = HandoverFixture.task(1, requests[0])
        let actions = fixture.machine.ended(task, SystemFailure(code: -1005))
        let rest = try #require(LeaseBook(requests.dropFirst().map(\.lease)))
        #expect(
            actions == [
                .report(LeaseEnd(lease: requests[0].lease, outcome: .failed(code: -1005))), .save(rest),
                .discard(requests[0].lease.number),
            ])
        let third = fixture.handOver([candidate])
        #expect(third.requests.map(\.lease.range) == [requests[0].lease.range])
    }

    @Test(
        "HandoverMachine: a landed file is wanted once, for a lease of the same download, and its later end is ignored")
    func landing() throws {
        var fixture = HandoverFixture()
        let request = try #require(fixture.begin([try HandoverFixture.candidate()]).first)
        let task = HandoverFixture.task(1, request)
        let other = SystemTask(id: 1, ticket: "ferry-lease 1 \(request.lease.number) b")
        #expect(fixture.machine.lease(ofLanding: other) == nil)
        #expect(fixture.machine.lease(ofLanding: SystemTask(id: 1, ticket: "of the app")) == nil)
        #expect(fixture.machine.lease(ofLanding: task) == request.lease)
        #expect(fixture.machine.landed(request.lease.number) == [.splice(request.lease)])
        #expect(fixture.machine.lease(ofLanding: task) == nil)
        #expect(fixture.machine.ended(task, nil) == [])
        let actions = fixture.machine.spliced(request.lease.number, .ended(.claimed(5)))
        #expect(actions.first == .report(LeaseEnd(lease: request.lease, outcome: .claimed(5))))
        #expect(fixture.machine.landed(request.lease.number) == [.discard(request.lease.number)])
    }

    @Test("HandoverMachine: a task that ends without a file leaves a lost lease")
    func withoutFile() throws {
        var fixture = HandoverFixture()
        let request = try #require(fixture.begin([try HandoverFixture.candidate()]).first)
        let actions = fixture.machine.ended(HandoverFixture.task(1, request), nil)
        #expect(actions.first == .report(LeaseEnd(lease: request.lease, outcome: .lost)))
    }

    @Test(
        "HandoverMachine: in the foreground tasks with more than 80 % stay, the others are cancelled and returned at their end"
    )
    func takingBack() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        let tasks = zip(requests, [20.1, 20, 0, 25]).enumerated().map { index, pair in
            HandoverFixture.task(index + 1, pair.0, received: ByteCount(pair.1 * Double(Self.mib)))
        }
        let actions = fixture.machine.cameToForeground(tasks, at: .zero)
        #expect(
            actions
                == [2, 3].sorted { requests[$0 - 1].lease.number < requests[$1 - 1].lease.number }.map {
                    .cancel(task: $0)
                })
        // Until the task has ended, nobody else fetches its range.
        #expect(fixture.machine.leases.count == 4)
        let ended = fixture.machine.ended(tasks[1], SystemFailure(code: -999))
        #expect(ended.first == .report(LeaseEnd(lease: requests[1].lease, outcome: .takenBack)))
        // A file that lands in spite of the cancellation is used.
        #expect(fixture.machine.lease(ofLanding: tasks[2]) == requests[2].lease)
    }

    @Test("HandoverMachine: a lease without a task is void after a minute, and its file is used if it lands before")
    func missing() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        let listed = [HandoverFixture.task(3, requests[2]), HandoverFixture.task(4, requests[3])]
        #expect(fixture.machine.listed(listed, at: .seconds(10)) == [])
        #expect(fixture.machine.listed(listed, at: .seconds(69)) == [])
        #expect(fixture.machine.landed(requests[0].lease.number) == [.splice(requests[0].lease)])
        let actions = fixture.machine.listed(listed, at: .seconds(70))
        #expect(actions.first == .report(LeaseEnd(lease: requests[1].lease, outcome: .lost)))
        #expect(Set(fixture.machine.leases) == [requests[0].lease, requests[2].lease, requests[3].lease])
    }

    @Test("HandoverMachine: after a start a lease without a task is void at once when all events were delivered")
    func drainedStart() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        var next = HandoverMachine(fixture.machine.book, landed: [requests[1].lease.number, LeaseNumber(rawValue: 9)])
        #expect(next.began() == [.discard(LeaseNumber(rawValue: 9)), .splice(requests[1].lease)])
        let listed = [HandoverFixture.task(4, requests[3])]
        #expect(next.listed(listed, at: .seconds(1)) == [])
        #expect(next.drained(at: .seconds(2)) == [])
        let ends = next.listed(listed, at: .seconds(3)).compactMap { action -> LeaseEnd? in
            if case .report(let end) = action { end } else { nil }
        }
        #expect(Set(ends.map(\.lease)) == [requests[0].lease, requests[2].lease])
        #expect(ends.allSatisfy { $0.outcome == .lost })
    }

    @Test("HandoverMachine: tasks of no lease are cancelled")
    func strangers() throws {
        var fixture = HandoverFixture()
        let request = try #require(fixture.begin([try HandoverFixture.candidate()]).first)
        let strangers = [
            SystemTask(id: 8, ticket: nil), SystemTask(id: 9, ticket: "ferry-lease 1 0000000000000001 a"),
        ]
        let tasks = strangers + [HandoverFixture.task(1, request)]
        #expect(fixture.machine.listed(tasks, at: .zero) == [.cancel(task: 8), .cancel(task: 9)])
    }

    @Test(
        "HandoverMachine: a cancellation by the system ends a lease, and is neither an attempt nor a crash",
        arguments: [
            (SystemFailure(code: -999, reason: 0), SystemStop.forceQuit),
            (SystemFailure(code: -999, reason: 1), .updatesDisabled),
            (SystemFailure(code: -999, reason: 2), .noResources), (SystemFailure(code: -999), .cancelled),
            (SystemFailure(code: -997), .serviceLost), (SystemFailure(code: -995), .serviceLost),
            (SystemFailure(code: -1009), .offline), (SystemFailure(code: -1018), .offline),
            (SystemFailure(code: -1020), .offline),
        ])
    func stopped(failure: SystemFailure, stop: SystemStop) throws {
        var fixture = HandoverFixture()
        let request = try #require(fixture.begin([try HandoverFixture.candidate()]).first)
        let actions = fixture.machine.ended(HandoverFixture.task(1, request), failure)
        #expect(actions.first == .report(LeaseEnd(lease: request.lease, outcome: .stopped(stop))))
        #expect(!LeaseOutcome.stopped(stop).isAttempt)
    }

    @Test("LeaseOutcome: only failures of the transfer and of the server count as attempts")
    func attempts() {
        #expect(LeaseOutcome.failed(code: -1001).isAttempt)
        #expect(LeaseOutcome.refused(.answered(.busy(status: 503, retryAfter: nil))).isAttempt)
        let others: [LeaseOutcome] = [
            .claimed(1), .repeated, .takenBack, .lost, .withdrawn, .refused(.stale), .refused(.notSynced),
        ]
        #expect(others.allSatisfy { !$0.isAttempt })
    }

    @Test("HandoverMachine: a wake is completed once, when all events were delivered and all files are spliced")
    func completion() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        #expect(fixture.machine.woken() == [])
        _ = fixture.machine.landed(requests[0].lease.number)
        #expect(fixture.machine.drained(at: .seconds(1)) == [])
        let actions = fixture.machine.spliced(requests[0].lease.number, .ended(.claimed(1)))
        #expect(actions.last == .complete)
        #expect(fixture.machine.drained(at: .seconds(2)) == [])
        #expect(fixture.machine.timeIsUp() == [])
    }

    @Test("HandoverMachine: when the time is up the wake is completed, and a file that is left is kept")
    func timeIsUp() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        _ = fixture.machine.woken()
        _ = fixture.machine.landed(requests[0].lease.number)
        #expect(fixture.machine.timeIsUp() == [.complete])
        #expect(fixture.machine.leases.contains(requests[0].lease))
    }

    @Test("HandoverMachine: a file that the download cannot take now delays no completion, and is spliced later")
    func postponed() throws {
        var fixture = HandoverFixture()
        let requests = fixture.begin([try HandoverFixture.candidate()])
        let lease = requests[0].lease
        _ = fixture.machine.woken()
        _ = fixture.machine.landed(lease.number)
        _ = fixture.machine.drained(at: .zero)
        #expect(fixture.machine.spliced(lease.number, .postponed) == [.complete])
        #expect(fixture.machine.retried(DownloadID(rawValue: "b")) == [])
        #expect(fixture.machine.retried(lease.download) == [.splice(lease)])
    }

    @Test("HandoverMachine: the leases of a removed download end, and their tasks are cancelled")
    func withdrawn() throws {
        var fixture = HandoverFixture()
        let candidates = [
            try HandoverFixture.candidate("a", total: Self.mib), try HandoverFixture.candidate("b", total: Self.mib),
        ]
        let requests = fixture.begin(candidates)
        let left = try #require(LeaseBook([requests[1].lease]))
        #expect(
            fixture.machine.withdrew(candidates[0].download) == [
                .cancel(task: 1), .report(LeaseEnd(lease: requests[0].lease, outcome: .withdrawn)), .save(left),
                .discard(requests[0].lease.number),
            ])
    }
}
