import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("PartFile", .timeLimit(.minutes(30)))
struct PartFileTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    var path: FilePath { directory.file("a.part") }

    init() throws { directory = try TemporaryDirectory() }

    private func failure(_ body: () throws -> Void) -> PartFileError? {
        do { try body() } catch { return error as? PartFileError }
        return nil
    }

    @Test("PartFile: it is created once, locked, and for its owner alone")
    func created() throws {
        let part = try PartFile.create(at: path, fileSystem: disk)
        let status = try disk.status(path, followingLinks: false)
        #expect(status.inode == part.inode && status.device == part.device)
        #expect(status.mode == PartFile.mode)
        #expect(part.isLocked)
        #expect(failure { _ = try PartFile.create(at: path, fileSystem: disk) } == .exists(path))
    }

    @Test("PartFile: where new files get no sticky bit it is set afterwards, so that an abandoned file is taken over")
    func stickyLater() throws {
        let system = FaultyFileSystem(missing: [.stickyAtCreation])
        try PartFile.create(at: path, fileSystem: system).close()
        #expect(try disk.status(path, followingLinks: false).mode == PartFile.mode)
        let taken = try NameTaker(fileSystem: system).take("a", in: directory.path, rule: .rename)
        guard case .taken(let part, let paths, _) = taken else {
            Issue.record("\(taken)")
            return
        }
        part.close()
        #expect(paths.name == "a")
        #expect(try directory.names == ["a.part"])
    }

    @Test("PartFile: where no file has a sticky bit it is created and adopted without, for its owner alone")
    func neverSticky() throws {
        let part = try PartFile.create(at: path, fileSystem: FaultyFileSystem(missing: [.sticky]))
        #expect(try disk.status(path, followingLinks: false).mode == 0o600)
        try part.file.setMode(0o644)
        try part.adopt()
        #expect(try disk.status(path, followingLinks: false).mode == 0o600)
        part.close()
        let plain = try PartFile.open(path, fileSystem: disk)
        try plain.adopt()
        #expect(try disk.status(path, followingLinks: false).mode == PartFile.mode)
    }

    @Test("PartFile: it cannot be opened while another opening holds the lock, and can be after close() (B8)")
    func locked() throws {
        let part = try PartFile.create(at: path, fileSystem: disk)
        #expect(failure { _ = try PartFile.open(path, fileSystem: disk) } == .locked(path))
        part.close()
        let again = try PartFile.open(path, fileSystem: disk)
        #expect(again.inode == part.inode)
    }

    @Test("PartFile: a lock on a file that was renamed meanwhile does not count; the part file is missing (B8)")
    func renamedUnderTheLock() throws {
        // Opening: the holder publishes (renames and closes) between our open and our lock.
        let holder = try PartFile.create(at: path, fileSystem: disk)
        let hook = HookedFileSystem(disk) { [directory] in
            try LocalFileSystem().rename(directory.file("a.part"), to: directory.file("a"), replacing: false)
            holder.close()
        }
        #expect(failure { _ = try PartFile.open(path, fileSystem: hook) } == .missing(path))
        #expect(try directory.names == ["a"])
    }

    @Test("PartFile: a file put in place of the opened one before the lock is opened instead (B8)")
    func replacedUnderTheLock() throws {
        let holder = try PartFile.create(at: path, fileSystem: disk)
        let hook = HookedFileSystem(disk) { [directory] in
            let path = directory.file("a.part")
            try LocalFileSystem().rename(path, to: directory.file("a"), replacing: false)
            holder.close()
            try PartFile.create(at: path, fileSystem: LocalFileSystem()).close()
        }
        let part = try PartFile.open(path, fileSystem: hook)
        #expect(part.inode != holder.inode)
        #expect(try part.isIntact(length: 0))
    }

    @Test("PartFile: opening a missing file, a directory, a symbolic link or a pipe fails with its reason")
    func odd() throws {
        #expect(failure { _ = try PartFile.open(path, fileSystem: disk) } == .missing(path))
        try disk.makeDirectory(path)
        #expect(failure { _ = try PartFile.open(path, fileSystem: disk) } == .notAFile(path))
        let link = directory.file("b.part")
        symlink("a", link.string)
        #expect(failure { _ = try PartFile.open(link, fileSystem: disk) } == .notAFile(link))
        let pipe = directory.file("c.part")
        mkfifo(pipe.string, 0o600)
        #expect(failure { _ = try PartFile.open(pipe, fileSystem: disk) } == .notAFile(pipe))
    }

    /// The bytes behind the cut are zeros, and were once published.
    @Test("PartFile: a file that was cut and grown to its length again is not intact (B6)", arguments: [false, true])
    func cutAndGrown(isOpenedAnew: Bool) throws {
        let part = try PartFile.create(at: path, fileSystem: LocalFileSystem())
        try #require(try part.preallocate(total: 1 << 20))
        for offset in stride(from: 0, to: 1 << 20, by: 4096) {
            try part.write([UInt8](repeating: 1, count: 4096), at: ByteCount(offset))
        }
        #expect(try part.isIntact(length: 1 << 20))
        var held = part
        if isOpenedAnew {
            part.close()
            held = try PartFile.open(path, fileSystem: LocalFileSystem())
        }
        #expect(try held.isIntact(length: 1 << 20))
        #expect(truncate(path.string, 10_000) == 0)
        try held.write([1], at: 1 << 20 - 1)
        #expect(try held.length() == 1 << 20)
        #expect(try !held.isIntact(length: 1 << 20))
    }

    @Test("PartFile: a file that was removed, replaced or cut is not intact (B6)")
    func intact() throws {
        let part = try PartFile.create(at: path, fileSystem: disk)
        try part.write([1, 2, 3, 4], at: 0)
        #expect(try part.isIntact(length: 4))
        #expect(try !part.isIntact(length: 5))
        truncate(path.string, 2)
        #expect(try !part.isIntact(length: 4))
        try disk.unlink(path)
        #expect(try !part.isIntact(length: 0))
        try directory.put("a.part", [1, 2, 3, 4])
        #expect(try !part.isIntact(length: 0))
        // The file there now is another program's.
        try part.remove()
        #expect(try directory.names == ["a.part"])
    }

    @Test("PartFile: on a file system without locks it works unlocked and says so")
    func withoutLocks() throws {
        let part = try PartFile.create(at: path, fileSystem: FaultyFileSystem(missing: [.locks]))
        #expect(!part.isLocked)
        try part.write([1], at: 0)
    }

    @Test("PartFile: remove() deletes its name from the directory")
    func removed() throws {
        try PartFile.create(at: path, fileSystem: disk).remove()
        #expect(try directory.names == [])
    }

    @Test("PartFile: a creation that fails at any call leaves no lock on the file", arguments: 0..<6)
    func faults(n: Int) throws {
        let faulty = FaultyFileSystem(.once(n))
        if let part = try? PartFile.create(at: path, fileSystem: faulty) { part.close() }
        // No lock is held on the file.
        if try disk.exists(path) { _ = try PartFile.open(path, fileSystem: disk) }
    }
}
