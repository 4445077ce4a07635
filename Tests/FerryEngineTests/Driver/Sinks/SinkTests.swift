import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

/// What every place for bytes promises.
@Suite("Sinks")
struct SinkTests {
    @Test(
        "Sink: bytes that were written in any order are read back, unless they went to a stream",
        arguments: SinkKind.allCases)
    func readBack(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            switch kind {
            case .memory, .part:
                let isWritten = try sink.write([4, 5, 6], at: 3, disk)
                #expect(isWritten)
                let isWritten2 = try sink.write([1, 2, 3], at: 0, disk)
                #expect(isWritten2)
                #expect(sink.read(1..<5, disk) == [2, 3, 4, 5])
                #expect(sink.read(4..<9, disk) == nil)
            case .stream:
                let isWritten3 = try sink.write([1, 2, 3], at: 0, disk)
                #expect(isWritten3)
                let isWritten4 = try sink.write([4], at: 3, disk)
                #expect(isWritten4)
                #expect(sink.read(0..<3, disk) == nil)
                #expect(world.directory.bytes("out") == [1, 2, 3, 4])
            case .examined:
                #expect(throws: FileError.self) { try sink.write([1], at: 0, disk) }
                #expect(sink.read(1..<3, disk) == [7, 7])
                #expect(world.directory.bytes("f") == [UInt8](repeating: 7, count: 300))
            }
        }
    }

    @Test("Sink: without a disk bytes go to memory only", arguments: SinkKind.allCases)
    func withoutDisk(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            if kind == .examined { return }
            let isWritten = try sink.write([1, 2, 3], at: 0, nil)
            #expect(isWritten == (kind == .memory))
            let names = try world.directory.names.filter { $0 != "f.part.ferry" }
            for name in names { #expect(world.directory.bytes(name) == []) }
        }
    }

    @Test(
        "Sink: a checkpoint says whether a kill leaves the claimed bytes to the next run or its reader",
        arguments: SinkKind.allCases)
    func checkpoint(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            if kind != .examined { _ = try sink.write([UInt8](repeating: 1, count: 9), at: 0, disk) }
            let isClaimed = try sink.checkpoint(SinkWorld.statement(RangeSet(0..<5)), disk)
            #expect(isClaimed == (kind == .part || kind == .stream))
            #expect((try? world.record(disk))?.claimed == (kind.survives ? [[0, 5]] : nil))
        }
    }

    @Test("Sink: after a retraction no record claims the bytes, in either slot", arguments: SinkKind.allCases)
    func retract(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            if kind != .examined { _ = try sink.write([UInt8](repeating: 1, count: 9), at: 0, disk) }
            for end in [5, 9] { _ = try sink.checkpoint(SinkWorld.statement(RangeSet(0..<ByteCount(end))), disk) }
            try sink.retract(to: SinkWorld.statement(RangeSet(0..<2)), disk)
            guard kind.survives else { return }
            let text = String(decoding: world.directory.bytes("f.part.ferry") ?? [], as: UTF8.self)
            #expect(text.contains(#""claimed":[[0,2]]"#))
            #expect(!text.contains("[[0,5]]") && !text.contains("[[0,9]]"))
        }
    }

    @Test(
        "Sink: content of another file is given up, and what can be used again becomes the backup",
        arguments: SinkKind.allCases)
    func setAside(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            guard kind != .stream else {
                #expect(throws: DownloadError.self) { try sink.setAside(Reason(.tooLittle), for: world.owner, disk) }
                return
            }
            let backup = try sink.setAside(Reason(.tooLittle), for: world.owner, disk)
            switch kind {
            case .part:
                #expect(backup?.id == SinkWorld.id.rawValue)
                let names = try world.directory.names.sorted()
                #expect(names == ["f.part.ferry.old", "f.part.old"])
            default: #expect(backup == nil)
            }
            if kind == .examined { #expect(try world.directory.names == ["f"]) }
        }
    }

    @Test("Sink: discarded content leaves the files of others, and none of its own", arguments: SinkKind.allCases)
    func discard(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try world.directory.put("other", [1])
        try await world.with(kind) { sink, disk in
            try sink.discard(disk)
            let rest = ["memory": [], "part": [], "stream": ["out"], "examined": ["f"]][kind.rawValue] ?? []
            let names = try world.directory.names.sorted()
            #expect(names == (rest + ["other"]).sorted())
        }
    }

    @Test(
        "Sink: a closed part file can be locked by the next run, and is written no more", arguments: SinkKind.allCases)
    func close(_ kind: SinkKind) async throws {
        let world = try SinkWorld()
        try await world.with(kind) { sink, disk in
            if kind == .part {
                #expect(throws: PartFileError.self) {
                    try PartFile.open(world.directory.file("f.part"), fileSystem: disk.fileSystem)
                }
            }
            sink.close(disk)
            guard kind == .part else { return }
            try PartFile.open(world.directory.file("f.part"), fileSystem: disk.fileSystem).close()
            #expect(throws: FileError.self) { try sink.write([1], at: 0, disk) }
        }
    }

    @Test("Sink: bytes that are written while a small file moves to a part file are all in it, and later ones too")
    func moves() async throws {
        let world = try SinkWorld()
        let piece = 64
        let count = 500
        let memory = MemorySink(name: "f", directory: world.directory.path, reserve: 16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    try await world.files.run { disk in
                        for number in stride(from: writer, to: count, by: 4) {
                            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: piece)
                            let value = try memory.write(bytes, at: ByteCount(number * piece), disk)
                            #expect(value)
                        }
                    }
                }
            }
            group.addTask {
                try await world.files.run { disk in
                    let session = try world.session(disk)
                    try memory.move(to: session, disk)
                }
            }
            try await group.waitForAll()
        }
        let bytes = world.directory.bytes("f.part")
        #expect(bytes == (0..<count).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: piece) })
        #expect(memory.bytes.isEmpty)
        let value2 = try memory.write([1], at: 0, nil)
        #expect(!value2)
    }
}

/// What a part file with its journal promises beyond.
@Suite("Part sessions")
struct PartSessionTests {
    private let world: SinkWorld

    init() throws { world = try SinkWorld() }

    private func with(_ body: @escaping @Sendable (PartSession, Disk) throws -> Void) async throws {
        try await world.files.run { [world] disk in
            let session = try world.session(disk)
            defer { session.close(disk) }
            try body(session, disk)
        }
    }

    @Test("Part session: what the journal has of an old link stays until the new one is proven to lead to the file")
    func unproven() async throws {
        try await with { [world] session, disk in
            var statement = SinkWorld.statement(tag: "\"two\"")
            (statement.isLinkUnproven, statement.urls) = (true, ["http://server.test/new"])
            _ = try session.checkpoint(statement, disk)
            let tag = try world.record(disk).identity.etag
            #expect(tag == "\"one\"")
            let urls = try world.record(disk).urls
            #expect(urls == ["http://server.test/f"])
            statement.isLinkUnproven = false
            _ = try session.checkpoint(statement, disk)
            let tag2 = try world.record(disk).identity.etag
            #expect(tag2 == "\"two\"")
            let urls2 = try world.record(disk).urls
            #expect(urls2 == ["http://server.test/new", "http://server.test/f"])
        }
    }

    @Test(
        "Part session: events that come between two records are in the next, and in that of the file that replaces it")
    func events() async throws {
        try await with { [world] session, disk in
            session.append(.note("first"), at: Date(timeIntervalSince1970: 1))
            _ = try session.checkpoint(SinkWorld.statement(), disk)
            session.append(.note("second"), at: Date(timeIntervalSince1970: 1))
            let texts = try world.record(disk).events.map(\.text)
            #expect(texts == ["first"])
            _ = try session.checkpoint(SinkWorld.statement(), disk)
            let texts2 = try world.record(disk).events.map(\.text)
            #expect(texts2 == ["first", "second"])
            let backup = try session.setAside(Reason(.tooLittle), for: world.owner, disk)
            var order = world.order()
            (order.backup, order.events) = (try #require(backup), session.record.events)
            let next = try world.session(disk, order)
            defer { next.close(disk) }
            let count = try world.record(disk).events.count
            #expect(count == 2)
        }
    }

    @Test(
        "Part session: a truncated part file claims nothing any more, and its bytes are not synced as if they were there"
    )
    func truncated() async throws {
        try await with { [world] session, disk in
            _ = try session.write([UInt8](repeating: 1, count: 9), at: 0, disk)
            _ = try session.checkpoint(SinkWorld.statement(RangeSet(0..<9)), disk)
            #expect(truncate(world.directory.file("f.part").string, 4) == 0)
            let failure = #expect(throws: ClaimFailure.self) {
                try session.checkpoint(SinkWorld.statement(RangeSet(0..<9)), disk)
            }
            #expect(failure?.error.code == .disk)
            let claimed = try world.record(disk).claimed
            #expect(claimed == [])
        }
    }

    @Test("Part session: writes past a truncation give it its length back, and still nothing is claimed")
    func hiddenTruncation() async throws {
        try await with { [world] session, disk in
            let statement = SinkWorld.statement(RangeSet(0..<9))
            _ = try session.write([UInt8](repeating: 1, count: 8), at: 0, disk)
            _ = try session.checkpoint(SinkWorld.statement(RangeSet(0..<8)), disk)
            #expect(truncate(world.directory.file("f.part").string, 4) == 0)
            #expect(throws: ClaimFailure.self) { try session.checkpoint(statement, disk) }
            _ = try session.write([1], at: 8, disk)
            let failure = #expect(throws: ClaimFailure.self) { try session.checkpoint(statement, disk) }
            #expect(failure?.error.code == .disk)
            let claimed = try world.record(disk).claimed
            #expect(claimed == [])
            try session.retract(to: statement, disk)
            try session.note(nil, statement, disk)
            _ = session.refute(
                JournalRecord.Mismatch(expected: "sha-256=00", actual: "sha-256=11"), owner: world.owner, disk)
            let claimed2 = try world.record(disk).claimed
            #expect(claimed2 == [])
        }
    }

    @Test("Part session: opened again it is the same file; another one at its path is refused and not written")
    func reopened() async throws {
        try await with { [world] session, disk in
            _ = try session.write([1, 2], at: 0, disk)
            try session.reopen(disk)
            #expect(session.reopenings == 1)
            #expect(session.read(0..<2, disk) == [1, 2])
            let part = world.directory.file("f.part")
            try disk.fileSystem.rename(part, to: world.directory.file("mine"), replacing: false)
            try world.directory.put("f.part", [9, 9])
            #expect(throws: DownloadError.self) { try session.reopen(disk) }
            #expect(throws: FileError.self) { try session.write([1], at: 0, disk) }
            #expect(world.directory.bytes("f.part") == [9, 9])
        }
    }

    @Test("Part session: a noted upload keeps what the record says of bytes that were never synced")
    func upload() async throws {
        try await with { [world] session, disk in
            var record = session.record
            record.unsyncedBoot = "this boot"
            try session.take(record, isRetracted: false)
            let upload = JournalRecord.Upload(object: "s3://bucket/key", id: "7")
            try session.note(upload, SinkWorld.statement(RangeSet(0..<4)), disk)
            let noted = try world.record(disk)
            #expect(noted.upload == upload)
            #expect(noted.unsyncedBoot == "this boot")
        }
    }

    @Test("Part session: a failure while it is made leaves nothing that blocks the name", arguments: 0..<40)
    func failedCreation(_ call: Int) async throws {
        let world = try SinkWorld(FaultyFileSystem(.once(call)))
        var order = world.order()
        order.reserve = 300
        let session = await world.files.run { [order] disk in
            let made = try? PartSession.create(order, own: world.own, world.environment, disk)
            if case .made(let session, _)? = made { session.close(disk) }
            return made
        }
        if case .made? = session { return }
        // The next run takes the same name.
        let name = try await world.environment.files.run { disk in
            let next = try world.session(disk)
            defer { next.close(disk) }
            return next.paths.name
        }
        #expect(name == "f")
    }

    @Test("Part session: a file that has not its digest says so, and an earlier refuted one in the backup goes")
    func refuted() async throws {
        try await with { [world] session, disk in
            let mismatch = JournalRecord.Mismatch(expected: "sha-256=00", actual: "sha-256=11")
            #expect(!session.refute(mismatch, owner: world.owner, disk))
            let noted = try world.record(disk).mismatch
            #expect(noted == mismatch)
            let backup = try #require(try session.setAside(Reason(.tooLittle), for: world.owner, disk))
            var order = world.order()
            order.backup = backup
            let next = try world.session(disk, order)
            defer { next.close(disk) }
            #expect(next.refute(mismatch, owner: world.owner, disk))
            let names = try world.directory.names.sorted()
            #expect(names == ["f.part", "f.part.ferry"])
        }
    }
}
