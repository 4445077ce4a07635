import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// A part file with a journal, and a file that has landed for a lease of it, on a disk in memory.
struct SpliceFixture {
    static let landing = LandingDirectory("/h")
    static let id = DownloadID(rawValue: "f")
    let file: Resource
    let disk: ModelDisk
    let lease: Lease

    init(
        claimed: RangeSet<ByteCount> = RangeSet(), range: Range<ByteCount> = 5_000..<15_000, size: ByteCount = 20_000
    ) throws {
        file = Resource(size: size, seed: 3)
        disk = ModelDisk(DiskImage(directories: ["/d", "/h"]), rules: WritingRules([file]))
        lease = try #require(
            Lease(
                number: LeaseNumber(rawValue: 1), download: Self.id, range: range, validator: file.etag,
                total: file.size))
        let part = try PartFile.create(at: "/d/a.part", fileSystem: disk)
        for range in claimed.ranges {
            try part.write(file.bytes(range), at: range.lowerBound)
        }
        try part.dataSync()
        var record = JournalRecord(
            id: Self.id.rawValue, urls: ["https://model.test/a"], name: "a", totalBytes: file.size,
            identity: FileIdentity(etag: file.etag, totalBytes: file.size), claimed: claimed.pairs, createdAt: 0)
        record.partDevice = part.device
        record.partInode = part.inode
        try Journal.create(at: "/d/a.part.ferry", record: record, fileSystem: disk, syncs: true).close()
        part.close()
    }

    /// Lands the answer of the server, or another.
    func land(
        _ range: Range<ByteCount>? = nil, from directory: FilePath = "/h", on fileSystem: (any FileSystem)? = nil,
        _ change: (inout ResponseHead) -> Void = { _ in }
    ) throws {
        let range = range ?? lease.reserved
        let temporary = directory.appending("CFNetworkDownload_1.tmp")
        let body = try disk.create(temporary, mode: 0o600)
        try body.write(file.bytes(range), at: 0)
        body.close()
        var fields = HTTPFields()
        fields[.contentRange] = "bytes \(lease.reserved.lowerBound)-\(lease.reserved.upperBound - 1)/\(file.size)"
        fields[.eTag] = file.etag
        var head = ResponseHead(status: 206, headers: fields)
        change(&head)
        try Self.landing.land(temporary, as: lease.number, head, fileSystem: fileSystem ?? disk)
    }

    /// One attempt to splice, with the pair opened for it.
    @discardableResult
    static func splice(
        _ lease: Lease, on fileSystem: any FileSystem, mustStop: @escaping @Sendable () -> Bool = { false }
    ) throws -> SpliceResult {
        let part = try PartFile.open("/d/a.part", fileSystem: fileSystem)
        defer { part.close() }
        let (journal, record) = try Journal.open(at: "/d/a.part.ferry", fileSystem: fileSystem, syncs: true)
        defer { journal.close() }
        var pair = HandoverPair(part: part, journal: journal, record: record, rules: ResumeRules(), syncs: true)
        let result = try LandedFileSplicer(landing, fileSystem: fileSystem, mustStop: mustStop)
            .splice(lease, into: &pair, now: Date(timeIntervalSince1970: 0))
        if case .ended = result { try landing.remove(lease.number, fileSystem) }
        return result
    }

    static func claims(on disk: ModelDisk) throws -> RangeSet<ByteCount> {
        let record = try Journal.read(at: "/d/a.part.ferry", fileSystem: disk)
        return try #require(RangeSet(pairs: record.claimed))
    }
}

@Suite("LandedFileSplicer")
struct LandedFileSplicerTests {
    @Test("LandedFileSplicer: the missing bytes of a landed file are written, synced and claimed")
    func splices() throws {
        let fixture = try SpliceFixture(claimed: RangeSet([0..<6_000, 9_000..<9_500]))
        try fixture.land()
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.claimed(8_500)))
        #expect(try SpliceFixture.claims(on: fixture.disk) == RangeSet(0..<15_000))
        #expect(try Journal.read(at: "/d/a.part.ferry", fileSystem: fixture.disk).weakestJoin == .strong)
        #expect(fixture.disk.violations == [])
    }

    @Test("LandedFileSplicer: when the time is over, what is written is claimed, and the next call goes on after it")
    func timeIsOver() throws {
        let piece = LandedFileSplicer.pieceBytes
        let fixture = try SpliceFixture(range: 1_000..<3 * piece, size: 4 * piece)
        try fixture.land()
        let asked = Mutex(0)
        let result = try SpliceFixture.splice(fixture.lease, on: fixture.disk) {
            asked.withLock { asked in
                asked += 1
                return asked > 2
            }
        }
        #expect(result == .postponed)
        #expect(try SpliceFixture.claims(on: fixture.disk) == RangeSet(1_000..<1_000 + 2 * piece))
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.claimed(piece - 1_000)))
        #expect(try SpliceFixture.claims(on: fixture.disk) == RangeSet(1_000..<3 * piece))
        #expect(fixture.disk.violations == [])
    }

    @Test("LandingDirectory: a temporary file of another volume is copied with its facts")
    func otherVolume() throws {
        let fixture = try SpliceFixture()
        try fixture.land(from: "/d", on: FaultyFileSystem(mount: "/d", over: fixture.disk))
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.claimed(10_000)))
        #expect(fixture.disk.violations == [])
    }

    @Test("LandingDirectory: what a kill has left of a copy is removed at the next start, and landed files stay")
    func leftDraft() throws {
        let fixture = try SpliceFixture()
        try fixture.land()
        try fixture.disk.create("/h/0000000000000002.landed.new", mode: 0o600).close()
        try SpliceFixture.landing.prepare(fixture.disk)
        #expect(try fixture.disk.list("/h") == ["0000000000000001.landed"])
    }

    @Test("LandedFileSplicer: a second splice finds the range claimed, with the file or without it")
    func again() throws {
        let fixture = try SpliceFixture()
        try fixture.land()
        try SpliceFixture.splice(fixture.lease, on: fixture.disk)
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.repeated))
        try fixture.land()
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.repeated))
        #expect(fixture.disk.violations == [])
    }

    @Test(
        "LandedFileSplicer: a kill or a power cut at any step leaves true claims, and the next attempt ends",
        arguments: [false, true])
    func cut(powerCut: Bool) throws {
        let fixture = try SpliceFixture(claimed: RangeSet(0..<6_000))
        fixture.disk.record()
        try fixture.land()
        try SpliceFixture.splice(fixture.lease, on: fixture.disk)
        let steps = fixture.disk.steps
        #expect(steps.count > 10)
        for (number, step) in steps.enumerated() {
            for seed in 0..<UInt64(powerCut ? 8 : 1) {
                let disk = powerCut ? step.powerCut(seed: seed) : step.crash()
                let result = try SpliceFixture.splice(fixture.lease, on: disk)
                let claims = try SpliceFixture.claims(on: disk)
                #expect(disk.violations == [], "step \(number), \(step.name), seed \(seed)")
                switch result {
                case .ended(.claimed), .ended(.repeated): #expect(claims == RangeSet(0..<15_000))
                case .ended(.lost), .ended(.refused(.notSynced)), .ended(.refused(.damaged)):
                    #expect(claims == RangeSet(0..<6_000), "step \(number), \(step.name), seed \(seed)")
                default: Issue.record("step \(number), \(step.name), seed \(seed): \(result)")
                }
                #expect(try SpliceFixture.landing.landed(disk) == [])
            }
        }
    }

    @Test("LandedFileSplicer: an attempt that fails at any call leaves true claims, and the next one ends")
    func failing() throws {
        for call in 0..<200 {
            let fixture = try SpliceFixture()
            try fixture.land()
            let faulty = FaultyFileSystem(.once(call), over: fixture.disk)
            _ = try? SpliceFixture.splice(fixture.lease, on: faulty)
            let result = try SpliceFixture.splice(fixture.lease, on: fixture.disk)
            guard case .ended(let outcome) = result else {
                Issue.record("call \(call): \(result)")
                return
            }
            let isClaimed = try SpliceFixture.claims(on: fixture.disk) == RangeSet(fixture.lease.reserved)
            #expect(isClaimed || outcome == .lost, "call \(call): \(outcome)")
            #expect(fixture.disk.violations == [], "call \(call)")
            if faulty.count <= call { return }
        }
        Issue.record("more calls than expected")
    }

    @Test(
        "LandedFileSplicer: a file that landed before a restart of the system is not used, since its bytes may be lost")
    func earlierBoot() throws {
        let fixture = try SpliceFixture()
        try fixture.land()
        try fixture.disk.syncDirectory("/h")
        let disk = DiskStep.now(of: fixture.disk).powerCut(seed: 1)
        let result = try SpliceFixture.splice(fixture.lease, on: disk)
        #expect([.ended(.refused(.notSynced)), .ended(.refused(.damaged))].contains(result))
        #expect(try SpliceFixture.claims(on: disk).isEmpty)
    }

    @Test("LandedFileSplicer: facts that are missing or invented are refused")
    func hostileFacts() throws {
        let texts: [[UInt8]?] = [nil, [], Array("{}".utf8), [UInt8](repeating: 0x20, count: 10_000)]
        for text in texts {
            let fixture = try SpliceFixture()
            try fixture.land()
            let file = try fixture.disk.open(SpliceFixture.landing.path(of: fixture.lease.number), .readWrite)
            try file.setAttribute("user.ferry.landed", text ?? Array("null".utf8))
            file.close()
            #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.refused(.damaged)))
        }
    }

    @Test("LandedFileSplicer: a file of another length than its range is refused, and nothing is written")
    func length() throws {
        let fixture = try SpliceFixture()
        try fixture.land(5_000..<14_999)
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .ended(.refused(.wrongLength(9_999))))
        #expect(try SpliceFixture.claims(on: fixture.disk).isEmpty)
    }

    @Test("LandedFileSplicer: while the journal announces a publication or a move, the file waits")
    func unsettled() throws {
        let fixture = try SpliceFixture()
        try fixture.land()
        let (journal, old) = try Journal.open(at: "/d/a.part.ferry", fileSystem: fixture.disk, syncs: true)
        var record = old
        record.moving = JournalRecord.Moving(part: "/e/a.part", device: 1, inode: 9)
        try journal.write(record)
        journal.close()
        #expect(try SpliceFixture.splice(fixture.lease, on: fixture.disk) == .postponed)
        #expect(try SpliceFixture.landing.landed(fixture.disk) == [fixture.lease.number])
    }

    @Test("LandingDirectory: stored leases are read back, and damaged ones are none")
    func book() throws {
        let fixture = try SpliceFixture()
        let (disk, landing) = (fixture.disk, SpliceFixture.landing)
        #expect(try landing.leases(disk) == .empty)
        let book = try #require(LeaseBook([fixture.lease]))
        try landing.store(book, disk)
        #expect(try landing.leases(disk) == book)
        #expect(try landing.leases(DiskStep.now(of: disk).powerCut(seed: 4)) == book)
        let file = try disk.open("/h/ferry-leases.json", .readWrite)
        try file.write(Array("[".utf8), at: 0)
        file.close()
        #expect(try landing.leases(disk) == nil)
    }
}
