import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Publisher", .timeLimit(.minutes(30)))
struct PublisherTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    let bytes: [UInt8] = Array("the whole file".utf8)

    init() throws { directory = try TemporaryDirectory() }

    private func order(_ rule: ConflictRule = .rename, _ name: String = "a.bin") -> PublishOrder {
        PublishOrder(
            directory: directory.path, name: name, rule: rule, length: ByteCount(bytes.count),
            modificationTime: FileTime(seconds: 784_111_777),
            source: FileSource(url: "http://h/a.bin?x=1", etag: "\"e\"", lastModified: nil))
    }

    private func part(_ fileSystem: any FileSystem, name: String = "a.bin.part") throws -> PartFile {
        let part = try PartFile.create(at: directory.file(name), fileSystem: fileSystem)
        try part.write(bytes, at: 0)
        return part
    }

    private func publisher(_ fileSystem: any FileSystem, syncs: Bool = true) -> Publisher {
        Publisher(fileSystem: fileSystem, syncs: syncs)
    }

    @Test("Publisher: a published file has its name, mode, modification time and source attribute")
    func publishes() throws {
        let part = try part(disk)
        let announced = Mutex<[JournalRecord.Publishing]>([])
        let published = try publisher(disk).publish(part, order()) { publishing in
            announced.withLock { $0.append(publishing) }
        }
        #expect(published == Published(path: directory.file("a.bin"), name: "a.bin", notes: []))
        #expect(try directory.names == ["a.bin"])
        #expect(directory.bytes("a.bin") == bytes)
        let status = try disk.status(published.path, followingLinks: false)
        #expect(status.mode == 0o666 & ~disk.creationMask)
        #expect(status.modified == FileTime(seconds: 784_111_777))
        #expect(
            announced.withLock { $0 }
                == [.init(name: "a.bin", device: part.device, inode: part.inode, length: ByteCount(bytes.count))])
        let file = try disk.openOurs(published.path, .readOnly)
        let (attribute, now) = (try #require(SourceAttribute.read(file)), try file.status())
        #expect(attribute.matches(url: "http://h/a.bin?x=1", now))
        #expect(attribute.etag == "\"e\"")
    }

    @Test("Publisher: the file is synced, then announced, then renamed, and then the directory is synced")
    func order() throws {
        let faulty = FaultyFileSystem()
        let part = try part(faulty)
        let before = faulty.log.count
        _ = try publisher(faulty).publish(part, order()) { _ in faulty.note("announce") }
        let steps = faulty.log.dropFirst(before).filter {
            ["set", "syn", "ann", "ren"].contains($0.prefix(3))
        }
        #expect(
            steps == [
                "set the permissions of a.bin.part", "set the time of a.bin.part", "set an attribute of a.bin.part",
                "sync a.bin.part", "announce", "rename a.bin",
                "sync the directory \(directory.path.lastComponent?.string ?? "")",
            ])
    }

    @Test("Publisher: part files and journals are unfinished to the system, the published file is not")
    func roles() throws {
        let faulty = FaultyFileSystem(missing: [.unnamed])
        let part = try part(faulty)
        let journal = try Journal.create(
            at: directory.file("a.bin.part.ferry"), record: testRecord(), fileSystem: faulty, syncs: false)
        try journal.write(testRecord(padding: 20_000))
        #expect(
            faulty.roles == [
                "a.bin.part unfinished", "a.bin.part.ferry.new unfinished", "a.bin.part.ferry.new unfinished",
            ])
        _ = try publisher(faulty).publish(part, order()) { _ in #expect(faulty.roles.last == "a.bin.part finished") }
        #expect(faulty.roles.count == 4)
    }

    @Test("Publisher: publishing without syncing makes no sync call")
    func unsynced() throws {
        let faulty = FaultyFileSystem()
        _ = try publisher(faulty, syncs: false).publish(part(faulty), order()) { _ in }
        #expect(!faulty.log.contains { $0.hasPrefix("sync") })
    }

    @Test(
        "Publisher: an existing file is never replaced unless the conflict rule says so (A42)",
        arguments: [
            (ConflictRule.rename, "a (1).bin"), (.fail, "exists"), (.skip, "exists"), (.overwrite, "a.bin"),
        ])
    func conflicts(rule: ConflictRule, outcome: String) throws {
        try directory.put("a.bin", [9])
        let part = try part(disk)
        do {
            let published = try publisher(disk).publish(part, order(rule)) { _ in }
            #expect(published.name == outcome)
            #expect(directory.bytes(outcome) == bytes)
            #expect(published.notes == (rule == .rename ? [.numbered(outcome)] : [.replaced]))
        } catch {
            guard case .exists = error else {
                Issue.record("\(error)")
                return
            }
            #expect(outcome == "exists")
            #expect(directory.bytes("a.bin.part") == bytes)
        }
        if rule != .overwrite { #expect(directory.bytes("a.bin") == [9]) }
    }

    @Test(
        "Publisher: a name that appears during the announcement is noticed, and the next name is announced (A42)",
        arguments: ways)
    func appears(missing: Set<FaultyFileSystem.Missing>) throws {
        let faulty = FaultyFileSystem(missing: missing)
        let names = Mutex<[String]>([])
        let published = try publisher(faulty).publish(part(faulty), order()) { publishing in
            names.withLock { $0.append(publishing.name) }
            if publishing.name == "a.bin" { try directory.put("a.bin", [9]) }
        }
        #expect(published.name == "a (1).bin")
        #expect(names.withLock { $0 } == ["a.bin", "a (1).bin"])
        #expect(directory.bytes("a.bin") == [9])
        #expect(directory.bytes("a (1).bin") == bytes)
    }

    /// The order to replace `a.bin` as it is now.
    private func replacement(_ rule: ConflictRule = .rename) throws -> PublishOrder {
        var wish = order(rule)
        wish.replaces = try PublishedFile.read(directory.file("a.bin").string, fileSystem: disk)
        return wish
    }

    @Test(
        "Publisher: the unchanged file of an earlier run is replaced, whatever the rule",
        arguments: [ConflictRule.rename, .fail, .skip, .overwrite])
    func replaces(rule: ConflictRule) throws {
        try directory.put("a.bin", [9])
        let published = try publisher(disk).publish(part(disk), replacement(rule)) { _ in }
        #expect(published == Published(path: directory.file("a.bin"), name: "a.bin", notes: [.replaced]))
        #expect(try directory.names == ["a.bin"])
        #expect(directory.bytes("a.bin") == bytes)
    }

    @Test(
        "Publisher: a changed file of an earlier run is kept, even if it changes during the announcement",
        arguments: [false, true])
    func changed(isLate: Bool) throws {
        try directory.put("a.bin", [9])
        let wish = try replacement()
        if !isLate { try directory.put("a.bin", [8, 8]) }
        let published = try publisher(disk).publish(part(disk), wish) { publishing in
            if isLate, publishing.name == "a.bin" { try directory.put("a.bin", [8, 8]) }
        }
        #expect(published.name == "a (1).bin")
        #expect(directory.bytes("a.bin") == [8, 8])
        #expect(directory.bytes("a (1).bin") == bytes)
    }

    @Test(
        "Publisher: the file that replaces another one has its permissions, under another name those of a new file",
        arguments: [ConflictRule.overwrite, .rename])
    func keepsPermissions(rule: ConflictRule) throws {
        try directory.put("a.bin", [9])
        let name = rule == .overwrite ? "a.bin" : "a (1).bin"
        #expect(chmod(directory.file("a.bin").string, 0o750) == 0)
        _ = try publisher(disk).publish(part(disk), order(rule)) { _ in }
        let status = try #require(try disk.statusIfPresent(directory.file(name)))
        #expect(status.mode == (rule == .overwrite ? 0o750 : 0o666 & ~disk.creationMask))
    }

    @Test("Publisher: a FIFO, socket or device is not replaced, whatever the rule")
    func replacesNoDevice() throws {
        #expect(mkfifo(directory.file("a.bin").string, 0o600) == 0)
        #expect(throws: PublishError.self) { try publisher(disk).publish(part(disk), order(.overwrite)) { _ in } }
        let status = try #require(try disk.statusIfPresent(directory.file("a.bin")))
        #expect(status.kind == .other)
        #expect(directory.bytes("a.bin.part") == bytes)
    }

    @Test("Publisher: overwriting b.part is refused while a journal marks it as the part file of b")
    func overwritesNoJournaledPart() throws {
        try directory.put("b.part", [1])
        try directory.put("b.part.ferry", [2])
        #expect(throws: PublishError.self) {
            try publisher(disk).publish(part(disk, name: "b.part.part"), order(.overwrite, "b.part")) { _ in }
        }
        #expect(directory.bytes("b.part") == [1])
    }

    @Test("Publisher: a number whose part file belongs to another download is skipped")
    func numbersOfOthers() throws {
        try directory.put("a.bin", [9])
        try directory.put("a (1).bin.part", [8])
        #expect(try publisher(disk).publish(part(disk), order()) { _ in }.name == "a (2).bin")
    }

    @Test("Publisher: overwriting never replaces a locked part file or a directory")
    func overwritesNoPart() throws {
        let other = try PartFile.create(at: directory.file("a.bin"), fileSystem: disk)
        try other.write([1], at: 0)
        #expect(throws: PublishError.self) { try publisher(disk).publish(part(disk), order(.overwrite)) { _ in } }
        #expect(try other.isIntact(length: 1))
        try disk.makeDirectory(directory.file("d"))
        #expect(throws: PublishError.self) {
            try publisher(disk).publish(part(disk, name: "d.part"), order(.overwrite, "d")) { _ in }
        }
    }

    @Test(
        "Publisher: without rename-without-replace it links, and without links it checks and renames",
        arguments: [
            ([FaultyFileSystem.Missing.renameWithoutReplacing], PublishNote.linked),
            ([.renameWithoutReplacing, .link], .renamedAfterCheck),
        ])
    func fallbacks(missing: [FaultyFileSystem.Missing], note: PublishNote) throws {
        let faulty = FaultyFileSystem(missing: Set(missing))
        let published = try publisher(faulty).publish(part(faulty), order()) { _ in }
        #expect(published.notes == [note])
        #expect(try directory.names == ["a.bin"])
        #expect(directory.bytes("a.bin") == bytes)
    }

    @Test("Publisher: missing support for attributes and directory syncs is noted, and the file is published")
    func lacking() throws {
        let faulty = FaultyFileSystem(missing: [.attributes, .directorySync])
        let published = try publisher(faulty).publish(part(faulty), order()) { _ in }
        #expect(published.notes.count == 2)
        #expect(published.notes.last == .directoryNotSyncable)
        #expect(directory.bytes("a.bin") == bytes)
    }

    @Test("Publisher: a part file that was removed, replaced or cut is not published (B6)")
    func notIntact() throws {
        let part = try part(disk)
        truncate(part.path.string, 3)
        #expect(throws: PublishError.self) { try publisher(disk).publish(part, order()) { _ in } }
        try disk.unlink(part.path)
        try directory.put("a.bin.part", bytes)
        #expect(throws: PublishError.self) { try publisher(disk).publish(part, order()) { _ in } }
        #expect(try directory.names == ["a.bin.part"])
    }

    @Test("Publisher: a part file that is replaced during the announcement is not published (B6)")
    func replacedMeanwhile() throws {
        let part = try part(disk)
        #expect(throws: PublishError.self) {
            try publisher(disk).publish(part, order()) { _ in
                try disk.unlink(part.path)
                try directory.put("a.bin.part", Array(bytes.reversed()))
            }
        }
        #expect(try directory.names == ["a.bin.part"])
    }

    @Test("Publisher: a failed announcement leaves the part file unrenamed")
    func announcementFails() throws {
        #expect(throws: PublishError.self) {
            try publisher(disk).publish(part(disk), order()) { _ in throw FileError(.write, "/j", kind: .io) }
        }
        #expect(try directory.names == ["a.bin.part"])
    }

    static let ways: [Set<FaultyFileSystem.Missing>] = [
        [], [.renameWithoutReplacing], [.renameWithoutReplacing, .link],
    ]

    @Test(
        "Publisher: killed before any call, the name is absent or whole, and recovery completes (B1)", arguments: ways,
        0..<40)
    func killed(missing: Set<FaultyFileSystem.Missing>, n: Int) throws {
        let healthy = try part(disk)
        healthy.close()
        let faulty = FaultyFileSystem(.fromThen(n), missing: missing)
        let announced = Mutex<JournalRecord.Publishing?>(nil)
        do {
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: faulty)
            defer { part.close() }
            _ = try publisher(faulty).publish(part, order()) { publishing in
                announced.withLock { $0 = publishing }
            }
        } catch {}
        if let there = directory.bytes("a.bin") { #expect(there == bytes) }
        guard let publishing = announced.withLock({ $0 }) else {
            #expect(try directory.names == ["a.bin.part"])
            return
        }
        let recovery = try publisher(disk).recover(publishing, part: directory.file("a.bin.part"))
        switch recovery {
        case .again:
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: disk)
            _ = try publisher(disk).publish(part, order()) { _ in }
        case .finished(let path): #expect(path == directory.file("a.bin"))
        case .unproven, .lost: Issue.record("\(recovery)")
        }
        #expect(try directory.names == ["a.bin"])
        #expect(directory.bytes("a.bin") == bytes)
    }

    @Test(
        "Publisher: killed before any call of a replacement, the name has the whole old or new file (B1)",
        arguments: 0..<40)
    func killedReplacing(n: Int) throws {
        try directory.put("a.bin", [9])
        let wish = try replacement()
        let healthy = try part(disk)
        healthy.close()
        let faulty = FaultyFileSystem(.fromThen(n))
        let announced = Mutex<JournalRecord.Publishing?>(nil)
        do {
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: faulty)
            defer { part.close() }
            _ = try publisher(faulty).publish(part, wish) { publishing in
                announced.withLock { $0 = publishing }
            }
        } catch {}
        let hasPart = try directory.names.contains("a.bin.part")
        #expect(directory.bytes("a.bin") == (hasPart ? [9] : bytes))
        guard let publishing = announced.withLock({ $0 }) else { return }
        let expected: Publisher.Recovery = hasPart ? .again : .finished(directory.file("a.bin"))
        #expect(try publisher(disk).recover(publishing, part: directory.file("a.bin.part")) == expected)
        if hasPart {
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: disk)
            _ = try publisher(disk).publish(part, wish) { _ in }
        }
        #expect(try directory.names == ["a.bin"])
        #expect(directory.bytes("a.bin") == bytes)
    }

    private func keeping(_ rule: ConflictRule = .overwrite) -> PublishOrder {
        var wish = order(rule)
        wish.keptCopy = KeptCopy(directory: directory.file("kept").string, path: "sub/a.bin")
        return wish
    }

    @Test("Publisher: a file that is replaced is kept first, durably; without one in its place nothing is")
    func keepsReplaced() throws {
        let faulty = FaultyFileSystem()
        _ = try publisher(faulty).publish(part(faulty), keeping()) { _ in }
        #expect(try directory.names == ["a.bin"])
        try directory.put("a.bin", [9])
        let part = try part(faulty)
        let before = faulty.log.count
        let published = try publisher(faulty).publish(part, keeping()) { _ in faulty.note("announce") }
        #expect(published.notes == [.kept(directory.file("kept/sub/a.bin"))])
        #expect(directory.bytes("a.bin") == bytes && directory.bytes("kept/sub/a.bin") == [9])
        let steps = faulty.log.dropFirst(before).filter { ["ann", "lin", "ren", "syn"].contains($0.prefix(3)) }
        let draft = try #require(steps.first { $0.hasPrefix("link .incoming-") })
        let own = directory.path.lastComponent?.string ?? ""
        #expect(
            steps == [
                "sync a.bin.part", "announce", "sync the directory \(own)", "sync the directory kept", draft,
                "rename a.bin", "sync the directory sub", "rename a.bin", "sync the directory \(own)",
            ])
    }

    @Test("Publisher: a file that takes the place of the kept one before it is replaced is kept too")
    func keepsNewer() throws {
        try directory.put("a.bin", [9])
        let file = directory
        let faulty = FaultyFileSystem { operation, path in
            if operation == .syncDirectory, path.lastComponent == "sub", file.bytes("a.bin") == [9] {
                _ = try? file.put("b.bin", [8, 8])
                try? LocalFileSystem().rename(file.file("b.bin"), to: file.file("a.bin"), replacing: true)
            }
            return nil
        }
        _ = try publisher(faulty).publish(part(faulty), keeping()) { _ in }
        #expect(directory.bytes("a.bin") == bytes && directory.bytes("kept/sub/a.bin") == [8, 8])
    }

    @Test("Publisher: a file that cannot be kept is not replaced")
    func keepsOrFails() throws {
        try directory.put("a.bin", [9])
        try directory.put("kept", [7])
        #expect(throws: PublishError.self) { try publisher(disk).publish(part(disk), keeping()) { _ in } }
        #expect(directory.bytes("a.bin") == [9] && directory.bytes("kept") == [7])
        #expect(directory.bytes("a.bin.part") == bytes)
    }

    @Test(
        "Publisher: killed before any call of a replacement, the old file has its name or is kept, and the next run ends it",
        arguments: 0..<60)
    func killedKeeping(n: Int) throws {
        try directory.put("a.bin", [9])
        let healthy = try part(disk)
        healthy.close()
        let faulty = FaultyFileSystem(.fromThen(n))
        do {
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: faulty)
            defer { part.close() }
            _ = try publisher(faulty).publish(part, keeping()) { _ in }
        } catch {}
        #expect(directory.bytes("a.bin") == [9] || directory.bytes("kept/sub/a.bin") == [9])
        if try directory.names.contains("a.bin.part") {
            #expect(directory.bytes("a.bin") == [9])
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: disk)
            _ = try publisher(disk).publish(part, keeping()) { _ in }
        }
        #expect(directory.bytes("a.bin") == bytes && directory.bytes("kept/sub/a.bin") == [9])
        #expect(try disk.list(directory.file("kept/sub")) == ["a.bin"])
    }

    @Test(
        "Publisher: one failing call never lets an unsynced or unnamed file count as published (B4)", arguments: ways,
        0..<40
    )
    func oneFailure(missing: Set<FaultyFileSystem.Missing>, n: Int) throws {
        let failing = FaultyFileSystem(.once(n), missing: missing)
        let made = try part(disk)
        made.close()
        do {
            let part = try PartFile.open(directory.file("a.bin.part"), fileSystem: failing)
            defer { part.close() }
            let published = try publisher(failing).publish(part, order()) { _ in }
            #expect(directory.bytes(published.name) == bytes)
            // Both syncs were made, and neither failed.
            let syncs = failing.log.filter { $0.hasPrefix("sync") }
            #expect(syncs.count == 2)
            if n < failing.log.count { #expect(!failing.log[n].hasPrefix("sync")) }
        } catch let error as PublishError {
            // The same sync is not tried again.
            #expect(failing.log.filter { $0.hasPrefix("sync ") && !$0.hasPrefix("sync the") }.count <= 1)
            switch error {
            case .unsyncedName(let published, _): #expect(directory.bytes(published.name) == bytes)
            default: #expect(directory.bytes("a.bin.part") == bytes, "\(error)")
            }
        } catch {
            #expect(error is PartFileError)
        }
    }
}
