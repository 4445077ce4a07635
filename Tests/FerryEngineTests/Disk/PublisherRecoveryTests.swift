import FerryCore
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Publisher recovery", .timeLimit(.minutes(30)))
struct PublisherRecoveryTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    let publisher: Publisher
    let publishing: JournalRecord.Publishing
    var part: FilePath { directory.file("a.part") }
    var final: FilePath { directory.file("a") }

    init() throws {
        directory = try TemporaryDirectory()
        publisher = Publisher(fileSystem: disk, syncs: true)
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

    @Test("Publisher recovery: an interruption before the rename means publishing again")
    func before() throws { #expect(try recover() == .again) }

    @Test("Publisher recovery: a name taken by another file before the rename means publishing again")
    func taken() throws {
        try directory.put("a", [1, 2, 3])
        #expect(try recover() == .again)
    }

    @Test("Publisher recovery: an interruption after the rename means finished")
    func after() throws {
        try disk.rename(part, to: final, replacing: false)
        #expect(try recover() == .finished(final))
    }

    @Test("Publisher recovery: an interruption between link and unlink means finished, and the part's name is removed")
    func linked() throws {
        try disk.link(part, to: final)
        #expect(try recover() == .finished(final))
        #expect(try directory.names == ["a"])
    }

    @Test("Publisher recovery: without the part file and the final file the publication is lost")
    func lost() throws {
        try disk.unlink(part)
        #expect(isLost(try recover()))
    }

    @Test("Publisher recovery: a part file with another inode, length or device is lost (B6)")
    func replaced() throws {
        #expect(isLost(try recover { $0.inode += 1 }))
        #expect(isLost(try recover { $0.length = 4 }))
        #expect(isLost(try recover { $0.device += 1 }))
    }

    @Test("Publisher recovery: another file under the final name means lost, and that file stays")
    func foreign() throws {
        try directory.put("a", [7, 8, 9])
        try disk.unlink(part)
        #expect(isLost(try recover()))
        #expect(directory.bytes("a") == [7, 8, 9])
    }

    @Test("Publisher recovery: a renamed file on another device is unproven")
    func moved() throws {
        try disk.rename(part, to: final, replacing: false)
        guard case .unproven(let path, _) = try recover({ $0.device += 1 }) else {
            Issue.record("it was believed or lost")
            return
        }
        #expect(path == final)
    }

    @Test("Publisher recovery: a file written without syncing counts only under the same boot")
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

    @Test(
        "Publisher recovery: a recorded name that leads elsewhere is not followed",
        arguments: ["../a", "/etc/passwd", "", "."])
    func names(name: String) throws { #expect(isLost(try recover { $0.name = name })) }
}
