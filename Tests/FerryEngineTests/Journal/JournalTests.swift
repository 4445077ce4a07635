import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

/// A record whose number of claims identifies it.
func testRecord(_ number: Int = 0, padding: Int = 0) -> JournalRecord {
    var record = JournalRecord(
        id: "id", urls: ["http://h/a?x=1"], name: "a", totalBytes: 1 << 40,
        identity: FileIdentity(etag: "\"e\"", totalBytes: 1 << 40), partDevice: .max, partInode: 7, createdAt: 1.5)
    record.claimed = (0..<ByteCount(number)).map { [$0 * 10, $0 * 10 + 5] }
    if padding > 0 { record.label = String(repeating: "p", count: padding) }
    return record
}

@Suite("Journal", .timeLimit(.minutes(30)))
struct JournalTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    var path: FilePath { directory.file("a.part.ferry") }

    init() throws { directory = try TemporaryDirectory() }

    private func failure(_ body: () throws -> Void) -> JournalError? {
        do { try body() } catch { return error as? JournalError }
        return nil
    }

    private func create(_ record: JournalRecord = testRecord(), _ fileSystem: (any FileSystem)? = nil) throws -> Journal
    {
        try Journal.create(at: path, record: record, fileSystem: fileSystem ?? disk, syncs: true)
    }

    @Test("Journal: the newest record is read, while it is open and after it was closed")
    func newest() throws {
        let journal = try create()
        for number in 1...9 {
            try journal.write(testRecord(number))
            #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(number))
        }
        journal.close()
        let (again, record) = try Journal.open(at: path, fileSystem: disk, syncs: true)
        #expect(record == testRecord(9))
        try again.write(testRecord(10))
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(10))
        #expect(again.sequence == 11)
        #expect(try directory.names == ["a.part.ferry"])
    }

    @Test("Journal: every field of a record survives writing and reading")
    func fields() throws {
        var record = testRecord(3)
        record.checksum = "sha-256=00"
        record.unsyncedBoot = "boot"
        record.weakestJoin = .sampled
        record.publishing = .init(name: "文件 (1).zip", device: 1, inode: .max, length: .bound - 1)
        record.mismatch = .init(expected: "a", actual: "b")
        record.events = [.init(time: 1_700_000_000.25, text: "quote \" backslash \\ newline \n brace } comma , 😀")]
        record.label = "a/b\u{0}\u{7f}"
        record.userInfo = ["k": "{\"v\":1}"]
        record.session = "s"
        record.moving = .init(part: "/there/文件.part", device: .max, inode: .max)
        record.movedFrom = "/here/文件.part"
        record.position = .max
        record.priority = .min
        record.trust = TrustRules()
        var request = DownloadRequest.plain
        (request.onConflict, request.stallTimeout, request.maxBytes) = (.overwrite, .milliseconds(1500), .bound - 1)
        record.rules = JournalRules(of: request)
        record.replaces = .init(device: .max, inode: .max, length: 7, modified: [1_700_000_000, 999_999_999])
        try create(record).close()
        #expect(try Journal.read(at: path, fileSystem: disk) == record)
    }

    @Test("Journal: the file is readable text of fixed size, for its owner alone")
    func readable() throws {
        let journal = try create()
        let before = try disk.status(path, followingLinks: false)
        #expect(before.mode == 0o600)
        for number in [40, 1] { try journal.write(testRecord(number)) }
        #expect(try disk.status(path, followingLinks: false).length == before.length)
        let text = String(decoding: try #require(directory.bytes("a.part.ferry")), as: UTF8.self)
        #expect(text.hasPrefix("ferry-journal 1 seq=2 slot=8192 length="))
        #expect(text.contains("\n\"claimed\":[[0,5]],\n"))
        #expect(text.contains("\n\"urls\":[\"http://h/a?x=1\"]"))
        // The remains of the longer record in the slot are overwritten by its next record.
        try journal.write(testRecord(2))
        #expect(!String(decoding: try #require(directory.bytes("a.part.ferry")), as: UTF8.self).contains("[390,395]"))
        #expect(text.utf8.allSatisfy { $0 != 0 })
    }

    @Test("Journal: creation gives a whole file, and an existing file is never replaced", arguments: [true, false])
    func exclusive(hasUnnamedFiles: Bool) throws {
        let fileSystem = FaultyFileSystem(missing: hasUnnamedFiles ? [] : [.unnamed])
        try directory.put("a.part.ferry", [1])
        #expect(failure { _ = try create(testRecord(), fileSystem) } == .exists(path))
        #expect(directory.bytes("a.part.ferry") == [1])
        #expect(try directory.names == ["a.part.ferry"])
        try disk.unlink(path)
        try create(testRecord(1), fileSystem).close()
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(1))
    }

    @Test("Journal: it is open once at a time, and can be read meanwhile (B8)")
    func locked() throws {
        let journal = try create(testRecord(2))
        #expect(failure { _ = try Journal.open(at: path, fileSystem: disk, syncs: true) } == .locked(path))
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(2))
        // Growing replaces the file: the new one is locked too.
        try journal.write(testRecord(1, padding: 50_000))
        #expect(failure { _ = try Journal.open(at: path, fileSystem: disk, syncs: true) } == .locked(path))
        journal.close()
        #expect(try Journal.open(at: path, fileSystem: disk, syncs: true).record == testRecord(1, padding: 50_000))
    }

    @Test("Journal: it grows with its record and leaves no file beside it")
    func grows() throws {
        let journal = try create()
        for padding in [100, 10_000, 20, 300_000, 3_000_000, 0] {
            try journal.write(testRecord(1, padding: padding))
            #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(1, padding: padding))
        }
        #expect(try directory.names == ["a.part.ferry"])
        #expect(try disk.status(path, followingLinks: false).mode == 0o600)
    }

    @Test("Journal: a record that is too large is refused, and the previous one stays")
    func tooLarge() throws {
        let journal = try create(testRecord(1))
        #expect(failure { try journal.write(testRecord(2, padding: 9 << 20)) } == .tooLarge(path))
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(1))
        try journal.write(testRecord(3))
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(3))
    }

    @Test("Journal: a .new file that a crash left does not stop the next growth")
    func leftover() throws {
        try directory.put("a.part.ferry.new", [1])
        let journal = try create()
        try journal.write(testRecord(1, padding: 50_000))
        #expect(try directory.names == ["a.part.ferry"])
    }

    @Test("Journal: sequence numbers start again after the largest one", arguments: [UInt64.max - 2, .max - 1, .max])
    func wraps(sequence: UInt64) throws {
        let payload = try JournalText.bytes(testRecord(0), path: path)
        let slot = JournalSlot(version: 1, sequence: sequence, slotBytes: 8192, payload: payload)
        var bytes = [UInt8](repeating: 10, count: 16_384)
        let encoded = slot.encode()
        let start = JournalSlot.index(of: sequence) * 8192
        bytes.replaceSubrange(start..<(start + encoded.count), with: encoded)
        try directory.put("a.part.ferry", bytes)
        let (journal, record) = try Journal.open(at: path, fileSystem: disk, syncs: true)
        #expect(record == testRecord(0))
        for number in 1...6 {
            try journal.write(testRecord(number))
            #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(number))
        }
        #expect(journal.sequence < 10)
    }

    @Test("Journal: a retracted claim does not return when the newest slot is damaged")
    func retracts() throws {
        let journal = try create(testRecord(5))
        try journal.write(testRecord(6))
        try journal.retract(testRecord(1))
        journal.close()
        for offset in [100, 8192 + 100] {
            var bytes = try #require(directory.bytes("a.part.ferry"))
            bytes[offset] ^= 1
            let damaged = try directory.put("b.part.ferry", bytes)
            #expect(try Journal.read(at: damaged, fileSystem: disk) == testRecord(1))
        }
    }

    @Test(
        "Journal: a record with invalid claims is neither written nor read",
        arguments: [
            [[ByteCount(5), 5]], [[5, 4]], [[-1, 4]], [[0, 5], [5, 6]], [[3, 5], [0, 1]], [[0, 5], [4, 6]], [[0]],
            [[0, 1, 2]], [[]], [[0, (1 << 40) + 1]], [[.min, .max]],
        ])
    func invalid(claimed: [[ByteCount]]) throws {
        var record = testRecord()
        record.claimed = claimed
        let journal = try create(testRecord(1))
        guard case .invalid = failure({ try journal.write(record) }) else {
            Issue.record("it was written")
            return
        }
        // Nor is it read, even with a right checksum.
        #expect(try failureOfReading(record) == .torn(path))
        #expect(try Journal.read(at: path, fileSystem: disk) == testRecord(1))
    }

    private func failureOfReading(_ record: JournalRecord) throws -> JournalError? {
        let payload = Array(try JSONEncoder().encode(record))
        let slot = JournalSlot(version: 1, sequence: 2, slotBytes: 8192, payload: payload)
        return failure { _ = try JournalImage(slot.encode(), path: path) }
    }

    @Test(
        "Journal: a record whose name leads out of the directory, or is that of a record of Ferry, is refused (B7)",
        arguments: [
            "", ".", "..", "a/b", "/a", "a\0b", "ferry-manifest.jsonl", "Ferry-Manifest.JSONL", ".a.ferry-digests",
            "a.aria2", "a.part.ferry", "a.part.ferry.new",
        ])
    func names(name: String) throws {
        var record = testRecord()
        record.name = name
        #expect(try failureOfReading(record) == .torn(path))
        record = testRecord()
        record.publishing = .init(name: name, device: 0, inode: 0, length: 0)
        #expect(try failureOfReading(record) == .torn(path))
    }

    @Test(
        "Journal: a record that moves to or from a path that is no part file is refused (B7)",
        arguments: ["", "a.part", "/a", "/etc/passwd", "/a\0b.part"])
    func places(path: String) throws {
        var record = testRecord()
        record.moving = .init(part: path, device: 1, inode: 1)
        #expect(record.problem != nil)
        record.moving = nil
        record.movedFrom = path
        #expect(record.problem != nil)
        record.movedFrom = "/a/b.part"
        record.moving = .init(part: "/c/d.part", device: nil, inode: 1)
        #expect(record.problem == nil)
    }

    @Test(
        "Journal: an id with a line feed or another control character is refused",
        arguments: ["a\nb", "a\rb", "\u{1b}[2J", "a\u{2028}b", "a\0"])
    func identifiers(id: String) throws {
        var record = testRecord()
        record.id = id
        #expect(try failureOfReading(record) == .torn(path))
        record.id = "文件 a-1"
        #expect(record.problem == nil)
    }

    @Test("Journal: a time that is not a number is refused, and nothing is written")
    func times() throws {
        var record = testRecord()
        record.createdAt = .nan
        #expect(failure { _ = try create(record) } == .invalid(path, "an invalid time"))
        #expect(try directory.names == [])
    }

    @Test("Journal: a removed or replaced file is noticed, and a foreign file in its place is not removed (B6)")
    func intact() throws {
        let journal = try create()
        #expect(try journal.isIntact())
        try disk.unlink(path)
        #expect(try !journal.isIntact())
        try directory.put("a.part.ferry", [1])
        #expect(try !journal.isIntact())
        #expect(failure { try journal.write(testRecord(1, padding: 50_000)) } == .missing(path))
        try journal.remove()
        #expect(directory.bytes("a.part.ferry") == [1])
    }

    @Test("Journal: remove() deletes the file, and later records are refused")
    func removed() throws {
        let journal = try create()
        try journal.remove(syncs: true)
        #expect(try directory.names == [])
        #expect(failure { try journal.write(testRecord()) } != nil)
    }

    @Test("Journal: writing without syncing makes no sync call")
    func unsynced() throws {
        let faulty = FaultyFileSystem()
        let journal = try Journal.create(at: path, record: testRecord(), fileSystem: faulty, syncs: false)
        try journal.write(testRecord(1))
        try journal.write(testRecord(1, padding: 50_000))
        #expect(!faulty.log.contains { $0.hasPrefix("sync") })
    }

    @Test("Journal: the file is synced before it is linked or renamed, and the directory after it")
    func order() throws {
        let faulty = FaultyFileSystem()
        let journal = try create(testRecord(), faulty)
        func steps(_ log: some Sequence<String>) -> [Substring] {
            log.filter { !$0.hasPrefix("inspect") }.map { $0.hasPrefix("sync the") ? "directory" : $0.prefix(4) }
        }
        #expect(steps(faulty.log) == ["crea", "lock", "writ", "sync", "link", "directory"])
        let before = faulty.log.count
        try journal.write(testRecord(1, padding: 50_000))
        #expect(
            steps(faulty.log.dropFirst(before)) == ["remo", "crea", "lock", "writ", "sync", "rena", "directory"])
    }

    @Test("Journal: one checkpoint takes one write and one sync")
    func cost() throws {
        let faulty = FaultyFileSystem()
        let journal = try create(testRecord(), faulty)
        let before = faulty.log.count
        try journal.write(testRecord(1))
        #expect(faulty.log.dropFirst(before).map { $0.prefix(4) } == ["writ", "sync"])
    }
}
