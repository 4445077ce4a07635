import FerryCore
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

#if canImport(Glibc)
    import Glibc
#endif

@Suite("LocalFileSystem", .timeLimit(.minutes(30)))
struct LocalFileSystemTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("FileError: the message of every failed operation exists in English and Chinese", arguments: operations)
    func languages(operation: FileError.Operation) {
        let error = FileError(operation, "/d/a", kind: .endedEarly)
        #expect(error.message == "cannot \(operation.rawValue) /d/a: the file ends early")
        let text = error.phrase.text(in: .simplifiedChinese)
        #expect(text.hasPrefix("无法") && text.hasSuffix(" /d/a：文件提前结束") && !text.contains(operation.rawValue))
    }

    private static let operations: [FileError.Operation] = [
        .open, .create, .read, .write, .sync, .truncate, .lock, .link, .rename, .remove, .list, .allocate, .inspect,
        .makeDirectory, .syncDirectory, .measureSpace, .setMode, .setTime, .setAttribute, .getAttribute,
    ]

    @Test("LocalFileSystem: a file is created once, and its bytes are at the offsets they were written to")
    func makesAndWrites() throws {
        let file = try disk.create(directory.file("a"), mode: 0o600)
        try file.write([1, 2, 3], at: 5)
        #expect(try file.read(0..<8) == [0, 0, 0, 0, 0, 1, 2, 3])
        #expect(try file.status().length == 8)
        #expect(try file.status().mode == 0o600)
        #expect(kind { _ = try disk.create(directory.file("a"), mode: 0o600) } == .exists)
    }

    #if os(Linux)
        @Test("LocalFileSystem: close() releases the lock of a created file although its descriptor was copied")
        func unlocksInSpiteOfChildren() throws {
            let path = directory.file("a")
            let file = try disk.create(path, mode: 0o600)
            #expect(try file.tryLock())
            // Until its exec a child has a copy of every descriptor; the test makes one.
            let number = try #require(descriptor(of: path))
            let copy = dup(number)
            defer { _ = Glibc.close(copy) }
            file.close()
            #expect(try disk.open(path, .readWrite).tryLock())
        }

        private func descriptor(of path: FilePath) -> Int32? {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.compactMap { Int32($0) }.first { number in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path.string
            }
        }
    #endif

    @Test("LocalFileSystem: a read stops at the end of the file, and an exact read past it is an error")
    func readsToTheEnd() throws {
        let file = try disk.open(directory.put("a", [1, 2, 3]), .readOnly)
        var buffer = [UInt8](repeating: 9, count: 8)
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 1) }
        #expect(count == 2)
        #expect(buffer.prefix(3) == [2, 3, 9])
        #expect(kind { _ = try file.read(1..<4) } == .endedEarly)
        #expect(kind { _ = try file.read(ByteCount.max - 4..<ByteCount.max) } != nil)
    }

    @Test("LocalFileSystem: a closed file fails every call and never reads another file's bytes")
    func closes() throws {
        let file = try disk.create(directory.file("a"), mode: 0o600)
        file.close()
        file.close()
        #expect(kind { try file.write([1], at: 0) } == .closed)
        #expect(kind { _ = try file.status() } == .closed)
        #expect(kind { try file.dataSync() } == .closed)
    }

    #if os(Linux)
        @Test(
            "LocalFileSystem: close() during a write releases the descriptor only after the write"
        )
        func closesUnderAWriter() throws {
            let bytes = [UInt8](repeating: 0xaa, count: 64 << 20)
            var rounds = 0
            // The order of the two is up to the scheduler: a round in which the write was already done shows nothing.
            for round in 0..<20 where rounds < 3 {
                let path = directory.file("a\(round)")
                let file = try disk.create(path, mode: 0o600)
                let write = Write(bytes, to: file)
                while try disk.status(path, followingLinks: false).length == 0, !write.isDone {}
                file.close()
                let isOpen = try openPaths().contains(path.string)
                if !write.isDone {
                    rounds += 1
                    #expect(isOpen)
                }
                write.wait()
                #expect(try !openPaths().contains(path.string))
                try disk.unlink(path)
            }
        }

        /// The paths of this process's descriptors.
        private func openPaths() throws -> [String] {
            try disk.list("/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
        }
    #endif

    @Test("LocalFileSystem: a rename without replacing never replaces a file")
    func renames() throws {
        let from = try directory.put("a", [1])
        let to = try directory.put("b", [2])
        #expect(kind { try disk.rename(from, to: to, replacing: false) } == .exists)
        #expect(directory.bytes("b") == [2])
        try disk.rename(from, to: directory.file("c"), replacing: false)
        #expect(directory.bytes("c") == [1])
        try disk.rename(directory.file("c"), to: to, replacing: true)
        #expect(directory.bytes("b") == [1])
        #expect(try directory.names == ["b"])
    }

    @Test("LocalFileSystem: an unnamed file appears whole when it is linked, never over another, or not at all")
    func unnamed() throws {
        do {
            let file = try disk.openUnnamed(in: directory.path, mode: 0o666)
            try file.write([1, 2], at: 0)
            #expect(try directory.names == [])
            try directory.put("taken", [9])
            #expect(kind { try disk.link(file, to: directory.file("taken")) } == .exists)
            try disk.link(file, to: directory.file("a"))
            #expect(directory.bytes("a") == [1, 2])
            _ = try disk.openUnnamed(in: directory.path, mode: 0o666)
        }
        #expect(try directory.names == ["a", "taken"])
        #expect(try disk.status(directory.file("a"), followingLinks: false).mode == 0o666 & ~disk.creationMask)
    }

    @Test("LocalFileSystem: a lock excludes every other opening of the file until it is closed")
    func locks() throws {
        let path = try directory.put("a")
        let first = try disk.open(path, .readWrite)
        let second = try disk.open(path, .readWrite)
        #expect(try first.tryLock())
        #expect(try first.tryLock())
        #expect(try !second.tryLock())
        first.close()
        #expect(try second.tryLock())
    }

    @Test("LocalFileSystem: times, modes and attributes read back as they were set")
    func dresses() throws {
        let path = try directory.put("a", [1])
        let file = try disk.open(path, .readWrite)
        let time = FileTime(seconds: 784_111_777, nanoseconds: 5_000_000)
        try file.setModificationTime(time)
        try file.setMode(0o640)
        #expect(try file.attribute("user.x") == nil)
        try file.setAttribute("user.x", Array("value".utf8))
        #expect(try file.attribute("user.x") == Array("value".utf8))
        let status = try disk.status(path, followingLinks: true)
        #expect(status.modified == time)
        #expect(status.mode == 0o640)
        #expect(status.kind == .regular)
        #expect(status.linkCount == 1)
    }

    @Test("LocalFileSystem: allocate() reserves space and keeps the bytes; an impossible length changes nothing")
    func allocates() throws {
        let file = try disk.create(directory.file("a"), mode: 0o600)
        try file.write([7], at: 0)
        let done = try file.allocate(length: 1 << 20)
        if done {
            #expect(try file.status().length == 1 << 20)
            #expect(try file.status().allocatedBytes >= 1 << 20)
        }
        #expect(try file.read(0..<1) == [7])
        // More than any disk has: an error, and the file as it was.
        let before = try file.status().length
        #expect(kind { _ = try file.allocate(length: 1 << 60) } != nil)
        #expect(try file.status().length == before)
    }

    @Test("LocalFileSystem: a full disk gives noSpace with the path and the system's message (B3)")
    func full() throws {
        let file = try disk.open("/dev/full", .readWrite)
        do {
            try file.write([1], at: 0)
            Issue.record("the write went through")
        } catch {
            let error = try #require(error as FileError?)
            #expect(error.kind == .noSpace)
            #expect(error.message == "cannot write /dev/full: No space left on device")
        }
    }

    @Test(
        "FileError: system error numbers map to the kinds that callers distinguish",
        arguments: [
            (ENOENT, FileError.Kind.notFound), (EEXIST, .exists), (ENOSPC, .noSpace), (EDQUOT, .noSpace),
            (EFBIG, .tooLarge), (EROFS, .readOnly), (EACCES, .permission), (EPERM, .permission), (EISDIR, .isDirectory),
            (ENOTDIR, .notDirectory), (EIO, .io), (EMFILE, .outOfDescriptors), (ENFILE, .outOfDescriptors),
            (EOPNOTSUPP, .unsupported), (ENOSYS, .unsupported), (EXDEV, .crossDevice), (ELOOP, .other(ELOOP)),
        ])
    func kinds(number: Int32, kind: FileError.Kind) {
        #expect(FileError(.open, "/a", errno: number).kind == kind)
    }

    @Test("LocalFileSystem: a symbolic link is not opened for writing, and opening a pipe does not block")
    func oddFiles() throws {
        let target = try directory.put("target", [1])
        symlink(target.string, directory.file("link").string)
        mkfifo(directory.file("pipe").string, 0o600)
        #expect(kind { _ = try disk.open(directory.file("link"), .readWrite) } == .other(ELOOP))
        #expect(try disk.open(directory.file("pipe"), .readOnly).status().kind == .other)
        #expect(try disk.status(directory.file("link"), followingLinks: false).kind == .symbolicLink)
        #expect(try disk.status(directory.file("link"), followingLinks: true).kind == .regular)
    }

    @Test("LocalFileSystem: missing directories are created, existing ones kept, a file in the way is an error (B5)")
    func makesDirectories() throws {
        let deep = directory.path.appending("a").appending("b").appending("c")
        try disk.makeDirectories(deep, syncs: true)
        try disk.makeDirectories(deep, syncs: false)
        #expect(try disk.status(deep, followingLinks: true).kind == .directory)
        try directory.put("file")
        #expect(kind { try disk.makeDirectories(directory.file("file"), syncs: false) } == .notDirectory)
        #expect(kind { try disk.makeDirectories(directory.file("file").appending("x"), syncs: false) } == .notDirectory)
    }

    @Test("LocalFileSystem: all names of a directory are listed, and a missing directory is an error")
    func lists() throws {
        let names = ["a", "ü文件.zip", String(repeating: "n", count: 250)]
        for name in names { try directory.put(name) }
        #expect(try Set(disk.list(directory.path)) == Set(names))
        #expect(kind { _ = try disk.list(directory.file("none")) } == .notFound)
        var count = 0
        try disk.list(directory.path) { name in
            count += 1
            return count < 2 && name != nil
        }
        #expect(count == 2)
    }

    @Test("LocalFileSystem: free space, boot id, umask and writability of a directory are reported")
    func machine() throws {
        #expect(try disk.space(at: directory.path).freeBytes > 0)
        #expect(disk.bootID?.isEmpty == false)
        #expect(disk.bootID == LocalFileSystem().bootID)
        let file = try disk.create(directory.file("a"), mode: 0o666)
        #expect(try file.status().mode == 0o666 & ~disk.creationMask)
        #expect(disk.isWritable(directory.path))
        #expect(!disk.isWritable(directory.file("none")))
    }

    @Test("LocalFileSystem: files and directories can be synced, and a missing directory is an error")
    func syncs() throws {
        let file = try disk.create(directory.file("a"), mode: 0o600)
        try file.write([1], at: 0)
        try file.dataSync()
        try file.sync()
        try disk.syncDirectory(directory.path)
        #expect(kind { try disk.syncDirectory(directory.file("none")) } == .notFound)
    }
}

@Suite("DownloadPaths")
struct DownloadPathsTests {
    @Test("DownloadPaths: part file, journal and backup pair lie beside the final file")
    func names() throws {
        let paths = try #require(DownloadPaths(directory: "/d", name: "a.zip"))
        #expect(paths.final == "/d/a.zip")
        #expect(paths.part == "/d/a.zip.part")
        #expect(paths.journal == "/d/a.zip.part.ferry")
        #expect(paths.oldPart == "/d/a.zip.part.old")
        #expect(paths.oldJournal == "/d/a.zip.part.ferry.old")
    }

    @Test(
        "DownloadPaths: final name, part file and journal each lead to the same paths",
        arguments: ["a.zip", "a.zip.part", "a.zip.part.ferry"])
    func found(name: String) {
        #expect(DownloadPaths(of: FilePath("/d/\(name)"))?.name == "a.zip")
        #expect(DownloadPaths(of: FilePath(name))?.directory == ".")
    }

    @Test(
        "DownloadPaths: a name that is empty, too long or leads out of the directory gives no paths",
        arguments: ["", ".", "..", "a/b", "/", "a\0b", String(repeating: "x", count: 256)])
    func bare(name: String) {
        #expect(DownloadPaths(directory: "/d", name: name) == nil)
    }
}

@Suite("FileTime")
struct FileTimeTests {
    @Test(
        "FileTime: numbers that are infinite, too large or NaN give no time",
        arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func odd(value: Double) { #expect(FileTime(secondsSince1970: value) == nil) }

    @Test("FileTime: times before 1970 are rounded down")
    func negative() {
        #expect(FileTime(secondsSince1970: -0.5) == FileTime(seconds: -1, nanoseconds: 500_000_000))
        #expect(FileTime(secondsSince1970: 784_111_777)?.secondsSince1970 == 784_111_777)
    }
}
