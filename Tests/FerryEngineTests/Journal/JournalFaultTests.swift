import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Journal on a failing disk", .timeLimit(.minutes(30)))
struct JournalFaultTests {
    let disk = LocalFileSystem()

    /// Records of growing number; some outgrow their slot.
    private func record(_ number: Int) -> JournalRecord { testRecord(number, padding: number == 4 ? 20_000 : 0) }

    private func number(_ path: FilePath) throws(JournalError) -> Int {
        try Journal.read(at: path, fileSystem: disk).claimed.count
    }

    @Test(
        "Journal: killed before any call, it holds the last acknowledged record or the one in progress (B1)",
        arguments: [true, false], 0..<60)
    func killed(hasUnnamedFiles: Bool, n: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.part.ferry")
        let faulty = FaultyFileSystem(.fromThen(n), missing: hasUnnamedFiles ? [] : [.unnamed])
        var acknowledged = 0
        var attempted = 1
        do {
            let journal = try Journal.create(at: path, record: record(1), fileSystem: faulty, syncs: true)
            acknowledged = 1
            for next in 2...6 {
                attempted = next
                try journal.write(record(next))
                acknowledged = next
            }
        } catch {}
        guard try disk.exists(path) else {
            #expect(acknowledged == 0)
            return
        }
        let found = try number(path)
        #expect(acknowledged...attempted ~= found, "\(found)")
        // The journal can be opened and written to again.
        let (journal, _) = try Journal.open(at: path, fileSystem: disk, syncs: true)
        try journal.write(testRecord(9, padding: 100_000))
        #expect(try number(path) == 9)
        #expect(try directory.names.filter { $0 != "a.part.ferry" } == [])
    }

    @Test(
        "Journal: one failing call fails one write, and the acknowledged record stays (B4)",
        arguments: [true, false], 0..<60)
    func oneFailure(hasUnnamedFiles: Bool, n: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.part.ferry")
        let faulty = FaultyFileSystem(.once(n), missing: hasUnnamedFiles ? [] : [.unnamed])
        let made: Journal
        do {
            made = try Journal.create(at: path, record: record(1), fileSystem: faulty, syncs: true)
        } catch {
            if try disk.exists(path) { #expect(try number(path) == 1) }
            return
        }
        var acknowledged = 1
        for next in 2...8 {
            do {
                try made.write(record(next))
                acknowledged = next
            } catch {
                // The failed write counts or not; the acknowledged record is not lost.
                #expect([acknowledged, next].contains(try number(path)))
                continue
            }
            #expect(try number(path) == next)
        }
        #expect(acknowledged >= 7)
    }

    @Test("Journal: after a failed sync the next record goes into a new file, and the valid slot stays")
    func doubtful() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.part.ferry")
        let probe = FaultyFileSystem()
        _ = try Journal.create(at: directory.file("probe"), record: record(1), fileSystem: probe, syncs: true)
        // Creation took this many calls; a write and a sync follow for each record.
        let faulty = FaultyFileSystem(.once(probe.count + 3))
        let journal = try Journal.create(at: path, record: record(1), fileSystem: faulty, syncs: true)
        try journal.write(record(2))
        #expect(throws: JournalError.self) { try journal.write(record(3)) }
        let before = try disk.status(path, followingLinks: false)
        try journal.write(record(5))
        let after = try disk.status(path, followingLinks: false)
        #expect(!before.isSameFile(as: after))
        #expect(try number(path) == 5)
    }
}

@Suite("JournalIndex")
struct JournalIndexTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func put(_ name: String, _ urls: [String]) throws -> FilePath {
        var record = testRecord()
        record.urls = urls
        let path = directory.file("\(name).part.ferry")
        try Journal.create(at: path, record: record, fileSystem: disk, syncs: false).close()
        return path
    }

    @Test("JournalIndex: journals are found by their exact URL, and unusable ones are listed")
    func finds() throws {
        let a = try put("a", ["http://h/a?x=1", "http://m/a"])
        let b = try put("b", ["http://h/a?x=1"])
        let bad = try directory.put("c.part.ferry", [1, 2])
        try directory.put("d.part.ferry.old", [1])
        try directory.put("e", [1])
        let index = try JournalIndex(directory: directory.path, fileSystem: disk)
        #expect(index.paths(forURL: "http://h/a?x=1") == [a, b])
        #expect(index.paths(forURL: "http://m/a") == [a])
        #expect(index.paths(forURL: "http://h/a?x=2") == [])
        #expect(index.problems == [.init(path: bad, error: .foreign(bad))])
        #expect(Set(index.records.keys) == [a, b])
    }

    @Test("JournalIndex: added, changed and removed journals are found or not accordingly")
    func changes() throws {
        let index = try JournalIndex(directory: directory.path, fileSystem: disk)
        let path = directory.file("a.part.ferry")
        var record = testRecord()
        index.add(path, record)
        #expect(index.paths(forURL: "http://h/a?x=1") == [path])
        record.urls = ["http://n/"]
        index.add(path, record)
        #expect(index.paths(forURL: "http://h/a?x=1") == [])
        #expect(index.paths(forURL: "http://n/") == [path])
        index.remove(path)
        #expect(index.paths(forURL: "http://n/") == [])
        #expect(index.records.isEmpty)
    }

    @Test("JournalIndex: a missing directory gives an empty index, and a file gives an error")
    func odd() throws {
        #expect(try JournalIndex(directory: directory.file("none"), fileSystem: disk).records.isEmpty)
        let file = try directory.put("file")
        #expect(throws: FileError.self) { try JournalIndex(directory: file, fileSystem: disk) }
    }
}
