import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("FileMover")
struct FileMoveTests {
    private struct Two {
        let here: TemporaryDirectory
        let there: TemporaryDirectory
        let bytes = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 17 >> 2) }
        let path: FilePath

        init() throws {
            here = try TemporaryDirectory()
            there = try TemporaryDirectory()
            path = try here.put("a.bin", bytes)
            let file = try LocalFileSystem().open(path, .readWrite)
            defer { file.close() }
            try file.setMode(0o640)
            try file.setModificationTime(FileTime(seconds: 1_700_000_000, nanoseconds: 5))
        }

        func file(_ fileSystem: any FileSystem) throws -> PublishedFile {
            try #require(try PublishedFile.read(path.string, fileSystem: fileSystem))
        }

        /// A complete move, as a manager performs it; returns the moved file and reports each announced one.
        func move(
            _ fileSystem: any FileSystem, copying: Bool = false, announced: (PublishedFile) -> Void = { _ in }
        ) throws -> PublishedFile {
            let old = try file(fileSystem)
            let move = FileMover(fileSystem: fileSystem)
            let draft = try move.begin(old, to: there.path.string, copying: copying)
            defer { draft.drop() }
            var candidate = try move.candidate(draft)
            while true {
                announced(candidate.file)
                switch try move.name(draft, candidate) {
                case .taken(let next): candidate = next
                case .mustCopy: return try self.move(fileSystem, copying: true, announced: announced)
                case .named:
                    if draft.isCopy {
                        try PublishedFile.delete(path.string, ifUnchangedSince: old, fileSystem: fileSystem)
                    }
                    return candidate.file
                }
            }
        }
    }

    enum Ground: Sendable, CaseIterable { case same, other, plain, withoutUnnamed }

    private func fileSystem(_ ground: Ground, _ two: Two, _ fault: FaultyFileSystem.Fault = .none) -> FaultyFileSystem {
        FaultyFileSystem(
            fault, missing: ground == .withoutUnnamed ? [.unnamed] : ground == .plain ? [.renameWithoutReplacing] : [],
            mount: ground == .other || ground == .withoutUnnamed ? two.there.path : nil)
    }

    @Test(
        "FileMover: a moved file has its bytes, mode and time in the target, and is gone from the source",
        arguments: Ground.allCases)
    func moves(_ ground: Ground) throws {
        let two = try Two()
        let fileSystem = fileSystem(ground, two)
        let old = try two.file(fileSystem)
        let new = try two.move(fileSystem)
        #expect(new.path == two.there.file("a.bin").string)
        #expect(new.isUnchanged(fileSystem: fileSystem))
        #expect(two.there.bytes("a.bin") == two.bytes)
        let status = try fileSystem.status(two.there.file("a.bin"), followingLinks: false)
        #expect(status.mode == 0o640)
        #expect(status.modified == old.modified)
        #expect(try two.here.names == [])
        #expect(try two.there.names == ["a.bin"])
    }

    @Test(
        "FileMover: a taken name and another download's part file are left alone; the next number is used",
        arguments: Ground.allCases)
    func taken(_ ground: Ground) throws {
        let two = try Two()
        try two.there.put("a.bin", [1])
        // A download in progress that will have this name.
        try two.there.put("a (1).bin.part", [2])
        let new = try two.move(fileSystem(ground, two))
        #expect(new.path == two.there.file("a (2).bin").string)
        #expect(two.there.bytes("a.bin") == [1])
        #expect(two.there.bytes("a (2).bin") == two.bytes)
        #expect(try two.there.names == ["a (1).bin.part", "a (2).bin", "a.bin"])
    }

    @Test("FileMover, PartFiles: a directory that is there and not writable is named as such")
    func readOnly() throws {
        let two = try Two()
        let fileSystem = HookedFileSystem(LocalFileSystem(), readOnly: two.there.path)
        let old = try two.file(fileSystem)
        let place = DownloadRequest.Destination.directory(two.there.path.string + "/new")
        for attempt in [
            { _ = try FileMover(fileSystem: fileSystem).begin(old, to: two.there.path.string) },
            { try PartFiles.checkWritable(place, fileSystem: fileSystem) },
        ] {
            let error = #expect(throws: DownloadError.self) { try attempt() }
            #expect(error?.code == .disk)
            #expect(error?.message == "the directory \(two.there.path) cannot be written to")
        }
        #expect(try two.there.names == [])
    }

    @Test("FileMover: on a bind mount that refuses the rename the file is copied")
    func bound() throws {
        let two = try Two()
        // The device is the same, but no rename works across it.
        _ = try two.move(FaultyFileSystem(mount: two.there.path, isBound: true))
        #expect(two.there.bytes("a.bin") == two.bytes)
        #expect(try two.here.names == [])
    }

    @Test(
        "FileMover: killed at any call, the file is whole in the source or the target (B1)", arguments: Ground.allCases)
    func killed(_ ground: Ground) throws {
        var number = 0
        while true {
            let two = try Two()
            let dying = fileSystem(ground, two, .fromThen(number))
            var announced: [PublishedFile] = []
            _ = try? two.move(dying) { announced.append($0) }
            let next = fileSystem(ground, two)
            let isHere = two.here.bytes("a.bin") == two.bytes
            let isThere = two.there.bytes("a.bin") == two.bytes
            #expect(isHere || isThere, "\(number)")
            // A file under the name is whole, and was announced.
            if try two.there.names.contains("a.bin") {
                #expect(isThere, "\(number)")
                #expect(announced.last?.isUnchanged(fileSystem: next) == true, "\(number)")
            }
            if dying.count <= number { break }
            number += 1
        }
        #expect(number > 5)
    }
}
