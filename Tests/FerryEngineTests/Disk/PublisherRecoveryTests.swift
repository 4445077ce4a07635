import FerryCore
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Recovery of a publication that was cut off", .timeLimit(.minutes(30)))
struct PublisherRecoveryTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    let publisher: Publisher
    let publishing: JournalRecord.Publishing
    var part: FilePath { directory.file("a.part") }
    var final: FilePath { directory.file("a") }

    init() throws {
        directory = try TemporaryDirectory()
        publisher = Publisher(fileSystem: disk, syncs: true, numbered: testNumbered)
        let status = try disk.status(directory.put("a.part", [1, 2, 3]), followingLinks: false)
        publishing = .init(name: "a", device: status.device, inode: status.inode, length: 3)
    }

    private func recover(_ change: (inout JournalRecord.Publishing) -> Void = { _ in }, boot: String? = nil) throws
        -> Publisher.Recovery
    {
        var publishing = publishing
        change(&publishing)
        return try publisher.recover(publishing, part: part, unsyncedBoot: boot)
    }

    private func isLost(_ recovery: Publisher.Recovery) -> Bool {
        if case .lost = recovery { return true }
        return false
    }

    @Test("before the rename: again")
    func before() throws { #expect(try recover() == .again) }

    @Test("before the rename, and somebody took the name: again, which finds the next")
    func taken() throws {
        try directory.put("a", [1, 2, 3])
        #expect(try recover() == .again)
    }

    @Test("after the rename: finished")
    func after() throws {
        try disk.rename(part, to: final, replacing: false)
        #expect(try recover() == .finished(final))
    }

    @Test("between link and unlink: finished, and the part's name goes")
    func linked() throws {
        try disk.link(part, to: final)
        #expect(try recover() == .finished(final))
        #expect(try directory.names == ["a"])
    }

    @Test("neither: lost, and said")
    func lost() throws {
        try disk.unlink(part)
        #expect(isLost(try recover()))
    }

    @Test("B6: another file under the part's name, or one of another length: lost")
    func replaced() throws {
        #expect(isLost(try recover { $0.inode += 1 }))
        #expect(isLost(try recover { $0.length = 4 }))
        #expect(isLost(try recover { $0.device += 1 }))
    }

    @Test("C4: the final name has another file: lost, and that file stays")
    func foreign() throws {
        try directory.put("a", [7, 8, 9])
        try disk.unlink(part)
        #expect(isLost(try recover()))
        #expect(directory.bytes("a") == [7, 8, 9])
    }

    @Test("C4: renamed, but on another device: not believed without proof")
    func moved() throws {
        try disk.rename(part, to: final, replacing: false)
        guard case .unproven(let path, _) = try recover({ $0.device += 1 }) else {
            Issue.record("it was believed or lost")
            return
        }
        #expect(path == final)
    }

    @Test("C1: written without syncing, it counts under the same boot only")
    func boots() throws {
        #expect(try recover(boot: disk.bootID) == .again)
        #expect(isLost(try recover(boot: "another")))
        try disk.rename(part, to: final, replacing: false)
        #expect(try recover(boot: disk.bootID) == .finished(final))
        guard case .unproven = try recover(boot: "another") else {
            Issue.record("it was believed or lost")
            return
        }
    }

    @Test("a name that leads elsewhere is not followed", arguments: ["../a", "/etc/passwd", "", "."])
    func names(name: String) throws { #expect(isLost(try recover { $0.name = name })) }
}
