import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("PartialDownloadMover")
struct PairMoveTests {
    /// Two directories, and a pair in the first: 500 KB, of which two ranges are claimed.
    private struct Two {
        let here: TemporaryDirectory
        let there: TemporaryDirectory
        let bytes: [UInt8]
        let old: DownloadPaths

        init() throws {
            here = try TemporaryDirectory()
            there = try TemporaryDirectory()
            bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            old = try #require(DownloadPaths(directory: here.path, name: "a"))
            let part = try PartFile.create(at: old.part, fileSystem: LocalFileSystem())
            try part.write(bytes, at: 0)
            var record = JournalRecord(
                id: "id", urls: ["http://h/a"], name: "a", totalBytes: 500_000, identity: FileIdentity(),
                createdAt: 1)
            record.claimed = [[0, 150_000], [200_000, 300_000]]
            (record.partDevice, record.partInode) = (part.device, part.inode)
            part.close()
            try Journal.create(at: old.journal, record: record, fileSystem: LocalFileSystem(), syncs: false).close()
        }

        /// The journal of an earlier generation.
        func putAside(id: String) throws {
            let record = JournalRecord(
                id: id, urls: ["http://h/\(id)"], name: "a", totalBytes: 9, identity: FileIdentity(), createdAt: 1)
            try Journal.create(at: old.oldJournal, record: record, fileSystem: LocalFileSystem(), syncs: false).close()
        }

        func path(_ moved: PartialDownloadMover.Moved?) -> String? { moved?.paths.part.string }
        var target: String { there.path.string }

        /// Expects a complete pair at a path: its claims, and the claimed bytes.
        func expectWhole(
            _ directory: TemporaryDirectory, _ fileSystem: any FileSystem, named name: String = "a",
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let paths = try #require(DownloadPaths(directory: directory.path, name: name))
            let record = try Journal.read(at: paths.journal, fileSystem: fileSystem)
            let status = try fileSystem.status(paths.part, followingLinks: false)
            #expect(record.id == "id", sourceLocation: sourceLocation)
            #expect(record.name == name, sourceLocation: sourceLocation)
            #expect(record.claimed == [[0, 150_000], [200_000, 300_000]], sourceLocation: sourceLocation)
            #expect(record.partInode == status.inode, sourceLocation: sourceLocation)
            #expect(record.partDevice == status.device, sourceLocation: sourceLocation)
            #expect(record.moving == nil, sourceLocation: sourceLocation)
            let held = directory.bytes("\(name).part") ?? []
            for claim in record.claimed {
                let range = Int(claim[0])..<Int(claim[1])
                #expect(held.count >= range.upperBound, sourceLocation: sourceLocation)
                #expect(held.count >= range.upperBound && held[range] == bytes[range], sourceLocation: sourceLocation)
            }
        }

        /// Resolves the journal as a driver does; returns the directory that has the pair then.
        func settle(_ fileSystem: any FileSystem) throws -> TemporaryDirectory {
            guard try fileSystem.exists(old.journal) else { return there }
            let opened = try Journal.open(at: old.journal, fileSystem: fileSystem, syncs: true)
            defer { opened.journal.close() }
            var record = opened.record
            let moved = try PartialDownloadMover(fileSystem: fileSystem).resolve(old, &record, opened.journal)
            return moved == nil ? here : there
        }
    }

    private func fileSystem(
        _ two: Two, isOther: Bool, _ fault: FaultyFileSystem.Fault = .none
    ) -> FaultyFileSystem {
        FaultyFileSystem(fault, mount: isOther ? two.there.path : nil)
    }

    @Test(
        "PartialDownloadMover: a moved pair is whole in the target, and forget() empties the old directory",
        arguments: [false, true])
    func moves(isOther: Bool) throws {
        let two = try Two()
        let inode = try LocalFileSystem().status(two.old.part, followingLinks: false).inode
        let fileSystem = fileSystem(two, isOther: isOther)
        let move = PartialDownloadMover(fileSystem: fileSystem)
        let moved = try move.move(two.old.final.string, of: DownloadID(rawValue: "id"), to: two.target)
        #expect(two.path(moved) == two.there.file("a.part").string)
        #expect(moved?.record.movedFrom == two.old.part.string)
        try two.expectWhole(two.there, fileSystem)
        let there = try LocalFileSystem().status(two.there.file("a.part"), followingLinks: false).inode
        #expect((there == inode) == !isOther)
        move.forget(two.old.part.string, of: "id")
        #expect(try two.here.names == [])
        #expect(try two.there.names == ["a.part", "a.part.ferry"])
    }

    @Test(
        "PartialDownloadMover: a taken name in the target is left alone, and the next number is used",
        arguments: [false, true])
    func taken(isOther: Bool) throws {
        let two = try Two()
        try two.there.put("a", [1])
        let fileSystem = fileSystem(two, isOther: isOther)
        let moved = try PartialDownloadMover(fileSystem: fileSystem).move(
            two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
        #expect(moved?.paths.name == "a (1)")
        try two.expectWhole(two.there, fileSystem, named: "a (1)")
        #expect(two.there.bytes("a") == [1])
    }

    @Test("PartialDownloadMover: a pair of another download, or a missing one, is not moved")
    func foreign() throws {
        let two = try Two()
        let move = PartialDownloadMover(fileSystem: LocalFileSystem())
        #expect(try move.move(two.old.part.string, of: DownloadID(rawValue: "other"), to: two.target) == nil)
        #expect(
            try move.move(two.here.file("b").string, of: DownloadID(rawValue: "id"), to: two.target) == nil)
        try two.expectWhole(two.here, LocalFileSystem())
        #expect(try two.there.names == [])
    }

    @Test(
        "PartialDownloadMover: a backup pair moves along within a file system, and stays behind otherwise",
        arguments: [false, true])
    func aside(isOther: Bool) throws {
        let two = try Two()
        try two.here.put("a.part.old", [7])
        try two.putAside(id: "id")
        let move = PartialDownloadMover(fileSystem: fileSystem(two, isOther: isOther))
        _ = try move.move(two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
        #expect((isOther ? two.here : two.there).bytes("a.part.old") == [7])
    }

    @Test("PartialDownloadMover: a backup pair of another download stays where it is")
    func anothersAside() throws {
        let two = try Two()
        try two.here.put("a.part.old", [7])
        try two.putAside(id: "other")
        _ = try PartialDownloadMover(fileSystem: LocalFileSystem()).move(
            two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
        #expect(two.here.bytes("a.part.old") == [7])
        #expect(two.there.bytes("a.part.old") == nil)
    }

    @Test("PartialDownloadMover: a copy that is stopped or lacks space leaves both directories as they were")
    func givenUp() throws {
        let two = try Two()
        let fileSystem = fileSystem(two, isOther: true)
        let id = DownloadID(rawValue: "id")
        #expect {
            try PartialDownloadMover(fileSystem: fileSystem, continues: { false }).move(
                two.old.part.string, of: id, to: two.target)
        } throws: { ($0 as? DownloadError)?.code == .shutDown }
        #expect {
            try PartialDownloadMover(fileSystem: fileSystem, reserve: .max).move(
                two.old.part.string, of: id, to: two.target)
        } throws: { ($0 as? DownloadError)?.code == .diskFull }
        try two.expectWhole(two.here, fileSystem)
        #expect(try two.there.names == [])
    }

    @Test(
        "PartialDownloadMover: killed at any call, the pair is whole at one place and absent at the other (B1)",
        arguments: [false, true])
    func killed(isOther: Bool) throws {
        var number = 0
        var places: Set<String> = []
        while true {
            let two = try Two()
            let dying = fileSystem(two, isOther: isOther, .fromThen(number))
            let move = PartialDownloadMover(fileSystem: dying)
            let moved = try? move.move(two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
            if let moved { move.forget(moved.record.movedFrom ?? "", of: "id") }
            let next = fileSystem(two, isOther: isOther)
            let place = try two.settle(next)
            try two.expectWhole(place, next)
            places.insert(place.path == two.here.path ? "here" : "there")
            if place.path == two.here.path {
                // At most the name that was about to be taken: an empty part file.
                let left = try two.there.names
                #expect(left == [] || left == ["a.part"] && two.there.bytes("a.part") == [], "\(number): \(left)")
            } else {
                PartialDownloadMover(fileSystem: next).forget(two.old.part.string, of: "id")
                #expect(try two.here.names == [], "\(number)")
                #expect(try two.there.names == ["a.part", "a.part.ferry"], "\(number)")
            }
            if dying.count <= number { break }
            number += 1
        }
        #expect(number > 20)
        #expect(places == ["here", "there"])
    }

    @Test("PartialDownloadMover: one failing call leaves the whole pair at one place", arguments: [false, true])
    func failing(isOther: Bool) throws {
        var number = 0
        while true {
            let two = try Two()
            let failing = fileSystem(two, isOther: isOther, .once(number))
            let move = PartialDownloadMover(fileSystem: failing)
            let moved = try? move.move(two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
            if let moved { move.forget(moved.record.movedFrom ?? "", of: "id") }
            let next = fileSystem(two, isOther: isOther)
            let place = try two.settle(next)
            try two.expectWhole(place, next)
            if moved != nil { #expect(place.path == two.there.path, "\(number)") }
            if failing.count <= number { break }
            number += 1
        }
    }

    @Test("PartialDownloadMover: on a bind mount that refuses the rename the pair is copied")
    func bound() throws {
        let two = try Two()
        let fileSystem = FaultyFileSystem(mount: two.there.path, isBound: true)
        let move = PartialDownloadMover(fileSystem: fileSystem)
        _ = try move.move(two.old.part.string, of: DownloadID(rawValue: "id"), to: two.target)
        move.forget(two.old.part.string, of: "id")
        try two.expectWhole(two.there, fileSystem)
        #expect(try two.here.names == [])
    }
}
