import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

/// A received directory whose journal records a move of its pair to a file of the user.
@Suite("A journal that names another place", .timeLimit(.minutes(30)))
struct ForeignMoveTests {
    private let disk = LocalFileSystem()

    /// The supplied pair `f`, whose journal names `victim.part`.
    private func plant(
        _ rig: DriverRig, in victims: TemporaryDirectory, hasPart: Bool, device: UInt64? = nil
    ) throws -> FileStatus {
        try victims.put("victim.part", [1, 2, 3])
        let victim = try disk.status(victims.file("victim.part"), followingLinks: false)
        var record = JournalRecord(
            id: "planted", urls: [try rig.server.downloadURL("/f").text], name: "f", totalBytes: 3,
            identity: FileIdentity(), createdAt: 1)
        if hasPart {
            let part = try PartFile.create(at: rig.directory.file("f.part"), fileSystem: disk)
            (record.partDevice, record.partInode) = (part.device, part.inode)
            part.close()
        } else {
            (record.partDevice, record.partInode) = (victim.device, victim.inode)
        }
        record.moving = .init(
            part: victims.file("victim.part").string, device: device ?? victim.device, inode: victim.inode)
        try Journal.create(
            at: rig.directory.file("f.part.ferry"), record: record, fileSystem: disk, syncs: false
        ).close()
        return victim
    }

    private func expectUntouched(_ victims: TemporaryDirectory, _ victim: FileStatus) throws {
        #expect(try disk.status(victims.file("victim.part"), followingLinks: false) == victim)
        #expect(victims.bytes("victim.part") == [1, 2, 3])
    }

    @Test(
        "PartialDownloadMover: a part file named by a planted journal stays without a journal of the same id",
        arguments: [true, false], [true, false])
    func victim(isAskedFor: Bool, hasPart: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", ForeignFileTests.resource)
            let victims = try TemporaryDirectory()
            let victim = try plant(rig, in: victims, hasPart: hasPart)
            let part = rig.directory.file("f.part").string
            let end = await rig.run(
                try rig.request("/f") { if !isAskedFor { ($0.sources, $0.destination) = ([], .part(part)) } })
            try expectUntouched(victims, victim)
            #expect(try victims.names == ["victim.part"])
            if hasPart {
                #expect(rig.holds("f", ForeignFileTests.resource), "\(end.outcome)")
            } else {
                // The target of the move is kept, and not trusted.
                #expect(end.error?.code == .conflict)
                #expect(end.error?.message.contains(victims.file("victim.part").string) == true)
                #expect(try rig.directory.names == ["f.part.ferry"])
            }
        }
    }

    @Test("PartialDownloadMover: a part file beside a journal of another id stays untouched")
    func anothersJournal() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", ForeignFileTests.resource)
            let victims = try TemporaryDirectory()
            let victim = try plant(rig, in: victims, hasPart: true)
            var record = JournalRecord(
                id: "victim", urls: ["http://h/victim"], name: "victim", totalBytes: 3, identity: FileIdentity(),
                createdAt: 1)
            (record.partDevice, record.partInode) = (victim.device, victim.inode)
            try Journal.create(
                at: victims.file("victim.part.ferry"), record: record, fileSystem: disk, syncs: false
            ).close()
            #expect(await rig.run(try rig.request("/f")).file != nil)
            try expectUntouched(victims, victim)
            #expect(try victims.names == ["victim.part", "victim.part.ferry"])
        }
    }

    @Test(
        "PartialDownloadMover: a moved pair is recognised only by device, inode and id together",
        arguments: ["device", "inode", "id", "nothing"])
    func compared(changed: String) throws {
        let (here, there) = (try TemporaryDirectory(), try TemporaryDirectory())
        let old = try #require(DownloadPaths(directory: here.path, name: "a"))
        let new = try #require(DownloadPaths(directory: there.path, name: "a"))
        let part = try PartFile.create(at: new.part, fileSystem: disk)
        var record = JournalRecord(
            id: "id", urls: ["http://h/a"], name: "a", totalBytes: 9, identity: FileIdentity(), createdAt: 1)
        (record.partDevice, record.partInode) = (part.device, part.inode)
        part.close()
        var moved = record
        if changed == "id" { moved.id = "other" }
        moved.movedFrom = old.part.string
        try Journal.create(at: new.journal, record: moved, fileSystem: disk, syncs: false).close()
        record.moving = .init(
            part: new.part.string, device: part.device + (changed == "device" ? 1 : 0),
            inode: part.inode + (changed == "inode" ? 1 : 0))
        try Journal.create(at: old.journal, record: record, fileSystem: disk, syncs: false).close()
        let (journal, read) = try Journal.open(at: old.journal, fileSystem: disk, syncs: false)
        defer { journal.close() }
        var found = read
        let move = PartialDownloadMover(fileSystem: disk)
        if changed == "nothing" {
            #expect(try move.resolve(old, &found, journal) == new)
            #expect(try here.names == [])
        } else {
            #expect(throws: JournalError.file(FileError(.rename, old.part, kind: .lostOnTheWay(to: new.part)))) {
                try move.resolve(old, &found, journal)
            }
            #expect(try here.names == ["a.part.ferry"])
        }
        #expect(try there.names == ["a.part", "a.part.ferry"])
    }

    @Test(
        "PartialDownloadMover: a journal lost at the target after the rename is a conflict, and no file is removed"
    )
    func lostJournal() throws {
        let (here, there) = (try TemporaryDirectory(), try TemporaryDirectory())
        let old = try #require(DownloadPaths(directory: here.path, name: "a"))
        let part = try PartFile.create(at: old.part, fileSystem: disk)
        var record = JournalRecord(
            id: "id", urls: ["http://h/a"], name: "a", totalBytes: 9, identity: FileIdentity(), createdAt: 1)
        (record.partDevice, record.partInode) = (part.device, part.inode)
        part.close()
        try Journal.create(at: old.journal, record: record, fileSystem: disk, syncs: false).close()
        let move = PartialDownloadMover(fileSystem: disk)
        _ = try move.move(old.part.string, of: DownloadID(rawValue: "id"), to: there.path.string)
        try disk.unlink(there.file("a.part.ferry"))
        #expect {
            try move.move(old.part.string, of: DownloadID(rawValue: "id"), to: there.path.string)
        } throws: { error in
            guard let error = error as? DownloadError else { return false }
            return error.code == .conflict && error.message.contains(there.file("a.part").string)
        }
        #expect(try here.names == ["a.part.ferry"])
        #expect(try there.names == ["a.part"])
    }
}
