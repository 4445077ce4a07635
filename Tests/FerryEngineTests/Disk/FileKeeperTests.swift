import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("FileKeeper", .timeLimit(.minutes(30)))
struct FileKeeperTests {
    /// Where the copy is to be.
    enum Ground: Sendable, CaseIterable { case same, otherFileSystem, withoutLinks }

    private let disk = LocalFileSystem()
    private let here: TemporaryDirectory
    private let there: TemporaryDirectory
    private let bytes: [UInt8] = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 17 >> 2) }
    private let path: FilePath
    private var copy: KeptCopy { KeptCopy(directory: there.path.string, path: "sub/deep/a.bin") }

    init() throws {
        here = try TemporaryDirectory()
        there = try TemporaryDirectory()
        path = try here.put("a.bin", bytes)
        let file = try disk.open(path, .readWrite)
        defer { file.close() }
        try file.setMode(0o640)
        try file.setModificationTime(FileTime(seconds: 1_700_000_000, nanoseconds: 5))
        try file.setAttribute(SourceAttribute.name, Array("from somewhere".utf8))
    }

    private func fileSystem(_ ground: Ground, _ fault: FaultyFileSystem.Fault = .none) -> FaultyFileSystem {
        FaultyFileSystem(
            fault, missing: ground == .withoutLinks ? [.link] : [], mount: ground == .otherFileSystem ? there.path : nil
        )
    }

    private func keep(_ fileSystem: any FileSystem) throws -> PublishedFile {
        try FileKeeper(fileSystem: fileSystem, syncs: true).keep(path, as: copy)
    }

    @Test(
        "FileKeeper: the copy has the bytes, mode, time and attributes of the file, which stays",
        arguments: Ground.allCases)
    func keeps(ground: Ground) throws {
        let before = try disk.status(path, followingLinks: false)
        let faulty = fileSystem(ground)
        #expect(try keep(faulty) == PublishedFile(path, before))
        #expect(here.bytes("a.bin") == bytes && there.bytes("sub/deep/a.bin") == bytes)
        let after = try disk.status(copy.filePath, followingLinks: false)
        #expect(after.mode == 0o640 && after.modified == before.modified)
        #expect(after.isSameFile(as: before) == (ground == .same))
        let file = try disk.open(copy.filePath, .readOnly)
        defer { file.close() }
        #expect(try file.attribute(SourceAttribute.name) == Array("from somewhere".utf8))
        #expect(try disk.list(there.file("sub/deep")) == ["a.bin"])
        #expect(faulty.log.last == "sync the directory deep")
        // Again, as after a crash before the file was replaced.
        #expect(try keep(fileSystem(ground)) == PublishedFile(path, before))
        #expect(try disk.list(there.file("sub/deep")) == ["a.bin"])
    }

    @Test("FileKeeper: a copy of an earlier time is replaced in one step", arguments: Ground.allCases)
    func replaces(ground: Ground) throws {
        try disk.makeDirectories(there.file("sub/deep"), syncs: false)
        try there.put("sub/deep/a.bin", [1, 2, 3])
        let faulty = fileSystem(ground)
        _ = try keep(faulty)
        #expect(there.bytes("sub/deep/a.bin") == bytes)
        #expect(!faulty.log.contains("remove a.bin"))
    }

    @Test("FileKeeper: what is no file of the user is neither kept nor replaced, and no link is followed")
    func refuses() throws {
        let confined = disk.confined(to: [here.path, there.path])
        let outside = try TemporaryDirectory()
        try outside.put("a.bin", [9])
        func symlink(_ target: String, at name: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: there.file(name).string, withDestinationPath: outside.file(target).string)
        }
        // A link in place of a directory of the copy.
        try symlink("", at: "sub")
        #expect(kind { _ = try keep(confined) } != nil)
        try disk.unlink(there.file("sub"))
        // A link and a directory in place of the copy.
        try disk.makeDirectories(there.file("sub/deep"), syncs: false)
        try symlink("a.bin", at: "sub/deep/a.bin")
        #expect(kind { _ = try keep(confined) } == .notOurs(.notRegular))
        try disk.unlink(copy.filePath)
        try disk.makeDirectory(copy.filePath)
        #expect(kind { _ = try keep(confined) } == .notOurs(.notRegular))
        // A link in place of the file.
        try FileManager.default.removeItem(atPath: copy.filePath.string)
        try disk.rename(path, to: here.file("b.bin"), replacing: false)
        try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: "b.bin")
        #expect(kind { _ = try keep(confined) } == .notOurs(.notRegular))
        #expect(outside.bytes("a.bin") == [9] && here.bytes("b.bin") == bytes)
        #expect(try outside.names == ["a.bin"] && disk.list(there.file("sub/deep")).isEmpty)
    }

    @Test("FileKeeper: two paths of one directory, which a link makes different, keep nothing")
    func itself() throws {
        try disk.makeDirectories(there.file("sub"), syncs: false)
        try FileManager.default.createSymbolicLink(
            atPath: there.file("sub/deep").string, withDestinationPath: here.path.string)
        #expect(kind { _ = try keep(disk) } == .exists)
        #expect(try here.names == ["a.bin"])
    }

    @Test(
        "FileKeeper: killed before any call, the file is whole, the copy is the old or the new one, and the next call ends it",
        arguments: Ground.allCases, [true, false])
    func killed(ground: Ground, isThere: Bool) throws {
        let directory = there.file("sub/deep")
        var n = 0
        while true {
            try? FileManager.default.removeItem(atPath: there.file("sub").string)
            if isThere {
                try disk.makeDirectories(directory, syncs: false)
                try there.put("sub/deep/a.bin", [1, 2, 3])
            }
            let faulty = fileSystem(ground, .fromThen(n))
            let ended = (try? keep(faulty)) != nil
            #expect(here.bytes("a.bin") == bytes)
            let found = there.bytes("sub/deep/a.bin")
            #expect(found == bytes || found == (isThere ? [1, 2, 3] : nil), "killed before \(n)")
            _ = try keep(fileSystem(ground))
            #expect(there.bytes("sub/deep/a.bin") == bytes)
            #expect(try disk.list(directory) == ["a.bin"], "killed before \(n)")
            if ended { break }
            n += 1
        }
        #expect(n > 8)
    }
}
