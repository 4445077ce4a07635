import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("BackupPair")
struct SetAsideTests {
    let directory: TemporaryDirectory
    let paths: DownloadPaths

    init() throws {
        directory = try TemporaryDirectory()
        paths = try #require(DownloadPaths(directory: directory.path, name: "a"))
    }

    private func aside(_ fileSystem: any FileSystem = LocalFileSystem()) -> BackupPair {
        BackupPair(paths, fileSystem: fileSystem, syncs: true)
    }

    @Test("BackupPair: moving replaces the older backup pair, and remove() deletes both files")
    func moves() throws {
        for (name, byte) in [("a.part", 1), ("a.part.ferry", 2), ("a.part.old", 8), ("a.part.ferry.old", 9)] {
            try directory.put(name, [UInt8(byte)])
        }
        try aside().move()
        #expect(try directory.names == ["a.part.ferry.old", "a.part.old"])
        #expect(directory.bytes("a.part.old") == [1])
        #expect(directory.bytes("a.part.ferry.old") == [2])
        #expect(try aside().isPresent())
        try aside().remove()
        #expect(try directory.names == [])
        #expect(try !aside().isPresent())
        try aside().remove()
    }

    @Test("BackupPair: a move cut off at any call loses no bytes, and a second move completes (B1)", arguments: 0..<4)
    func cutOff(n: Int) throws {
        try directory.put("a.part", [1])
        try directory.put("a.part.ferry", [2])
        try? aside(FaultyFileSystem(.fromThen(n))).move()
        #expect((directory.bytes("a.part") ?? directory.bytes("a.part.old")) == [1])
        try aside().move()
        #expect(directory.bytes("a.part.old") == [1])
        #expect(directory.bytes("a.part.ferry.old") == [2])
    }

    @Test(
        "BackupPair: a move or move back that is cut off at any call can still be moved back (B1)", arguments: 0..<5,
        0..<5)
    func putBack(n: Int, m: Int) throws {
        try directory.put("a.part", [1])
        try directory.put("a.part.ferry", [2])
        let inode = try #require(try LocalFileSystem().statusIfPresent(paths.part)).inode
        try? aside(FaultyFileSystem(.fromThen(n))).move()
        _ = try? aside(FaultyFileSystem(.fromThen(m))).moveBack(beside: inode)
        _ = try aside().moveBack(beside: inode)
        #expect(try directory.names == ["a.part", "a.part.ferry"])
        #expect(directory.bytes("a.part") == [1])
        #expect(directory.bytes("a.part.ferry") == [2])
        #expect(try !aside().moveBack(beside: nil))
    }

    @Test("BackupPair: moving back replaces an empty part file without a journal, but no pair and no other bytes (B1)")
    func inItsPlace() throws {
        try directory.put("a.part.old", [1])
        try directory.put("a.part.ferry.old", [2])
        try directory.put("a.part", [3])
        #expect(try !aside().moveBack(beside: nil))
        #expect(try directory.names == ["a.part", "a.part.ferry.old", "a.part.old"])
        try LocalFileSystem().unlink(paths.part)
        try PartFile.create(at: paths.part, fileSystem: LocalFileSystem()).close()
        #expect(try aside().moveBack(beside: nil))
        #expect(try directory.names == ["a.part", "a.part.ferry"])
        #expect(directory.bytes("a.part") == [1])
        try directory.put("a.part.old", [8])
        try directory.put("a.part.ferry.old", [9])
        #expect(try !aside().moveBack(beside: nil))
        #expect(directory.bytes("a.part") == [1])
        // The journal is about another part file than the one that is aside.
        try LocalFileSystem().unlink(paths.part)
        #expect(try !aside().moveBack(beside: 1))
        #expect(try directory.names == ["a.part.ferry", "a.part.ferry.old", "a.part.old"])
    }

    @Test("BackupPair: a part file that is open during the move stays open and writable")
    func staysOpen() throws {
        let part = try PartFile.create(at: paths.part, fileSystem: LocalFileSystem())
        try aside().move()
        try part.write([5], at: 0)
        #expect(directory.bytes("a.part.old") == [5])
        #expect(try !part.isIntact(length: 0))
        let next = try PartFile.create(at: paths.part, fileSystem: LocalFileSystem())
        #expect(next.inode != part.inode)
    }
}

@Suite("DirectorySpace")
struct DirectorySpaceTests {
    @Test(
        "DirectorySpace: the space is enough only when both the need and the reserve fit",
        arguments: [(ByteCount(0), ByteCount(0), true), (1 << 61, 0, false), (0, 1 << 61, false)])
    func fits(needed: ByteCount, reserve: ByteCount, isEnough: Bool) throws {
        let space = DirectorySpace("/", reserve: reserve, fileSystem: LocalFileSystem())
        #expect(try (space.check(needed: needed) == .enough) == isEnough)
    }

    @Test("DirectorySpace: a need and a reserve near the largest number give a shortage instead of a trap")
    func extremes() throws {
        let space = DirectorySpace("/", reserve: .max, fileSystem: LocalFileSystem())
        guard case .short(let shortage) = try space.check(needed: .max) else {
            Issue.record("there was room")
            return
        }
        #expect(shortage.missing == .max)
        #expect(try DirectorySpace("", reserve: .min, fileSystem: LocalFileSystem()).check(needed: .min) == .enough)
    }

    @Test("DirectorySpace: giving up the reserve is advised only where that is enough", arguments: [true, false])
    func advice(isEnough: Bool) throws {
        var image = DiskImage()
        image.capacity = 100_000_000
        let space = DirectorySpace("/", reserve: 30_000_000, fileSystem: ModelDisk(image))
        let error = try #require(throws: DownloadError.self) {
            try space.require(isEnough ? 100_000_000 : 100_000_001)
        }
        #expect((error.suggestionPhrase == ErrorPhrase(.minFree)) == isEnough)
    }

    @Test(
        "DirectorySpace: 1 % of a file system stays free, at most 256 MB, unless a reserve is given",
        arguments: [
            (ByteCount(100_000_000), nil, ByteCount(99_000_000)), (1 << 40, nil, (1 << 40) - 256_000_000),
            (100_000_000, 0, 100_000_000), (100_000_000, 30_000_000, 70_000_000),
        ] as [(ByteCount, ByteCount?, ByteCount)])
    func reserve(capacity: ByteCount, reserve: ByteCount?, most: ByteCount) throws {
        var image = DiskImage()
        image.capacity = capacity
        let space = DirectorySpace("/", reserve: reserve, fileSystem: ModelDisk(image))
        #expect(try space.check(needed: most) == .enough)
        #expect(try space.check(needed: most + 1) != .enough)
    }
}
