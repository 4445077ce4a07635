import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Setting a pair aside")
struct SetAsideTests {
    let directory: TemporaryDirectory
    let paths: DownloadPaths

    init() throws {
        directory = try TemporaryDirectory()
        paths = try #require(DownloadPaths(directory: directory.path, name: "a"))
    }

    private func aside(_ fileSystem: any FileSystem = LocalFileSystem()) -> SetAside {
        SetAside(paths, fileSystem: fileSystem, syncs: true)
    }

    @Test("moves both, over the generation before, and removes them when asked")
    func moves() throws {
        for (name, byte) in [("a.part", 1), ("a.part.ferry", 2), ("a.part.old", 8), ("a.part.ferry.old", 9)] {
            try directory.put(name, [UInt8(byte)])
        }
        try aside().move()
        #expect(try directory.names == ["a.part.ferry.old", "a.part.old"])
        #expect(directory.bytes("a.part.old") == [1])
        #expect(directory.bytes("a.part.ferry.old") == [2])
        #expect(try aside().isPresent())
        #expect(aside().freeableBytes() > 0)
        try aside().remove()
        #expect(try directory.names == [])
        #expect(try !aside().isPresent())
        try aside().remove()
    }

    @Test("B1: cut off anywhere, the bytes are still there, and moving again finishes", arguments: 0..<4)
    func cutOff(n: Int) throws {
        try directory.put("a.part", [1])
        try directory.put("a.part.ferry", [2])
        try? aside(FaultyFileSystem(.fromThen(n))).move()
        #expect((directory.bytes("a.part") ?? directory.bytes("a.part.old")) == [1])
        try aside().move()
        #expect(directory.bytes("a.part.old") == [1])
        #expect(directory.bytes("a.part.ferry.old") == [2])
    }

    @Test("the open part file stays open and locked")
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

@Suite("Room on the disk")
struct DirectorySpaceTests {
    @Test(
        "what is needed and the floor must fit",
        arguments: [(ByteCount(0), ByteCount(0), true), (1 << 61, 0, false), (0, 1 << 61, false)])
    func fits(needed: ByteCount, floor: ByteCount, isEnough: Bool) throws {
        let space = DirectorySpace("/", floor: floor, fileSystem: LocalFileSystem())
        #expect(try (space.check(needed: needed) == .enough) == isEnough)
    }

    @Test("numbers near the largest are a shortage, not a trap")
    func extremes() throws {
        let space = DirectorySpace("/", floor: .max, fileSystem: LocalFileSystem())
        guard case .short(_, let missing) = try space.check(needed: .max) else {
            Issue.record("there was room")
            return
        }
        #expect(missing == .max)
        #expect(try DirectorySpace("", floor: .min, fileSystem: LocalFileSystem()).check(needed: .min) == .enough)
    }
}
