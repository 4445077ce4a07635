import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Ownership rule")
struct OwnershipRuleTests {
    private static let me = FileUser(user: 1000, group: 1000)

    private func file(
        owner: UInt32 = 1000, group: UInt32 = 1000, mode: UInt16 = 0o600, links: UInt64 = 1,
        kind: FileStatus.Kind = .regular
    ) -> FileStatus {
        FileStatus(
            device: 1, inode: 2, length: 3, allocatedBytes: 0, mode: mode, owner: owner, group: group,
            modified: FileTime(seconds: 4), linkCount: links, kind: kind)
    }

    @Test("Ownership: a regular file of the user with one link that no other user can write to has no flaw")
    func ours() {
        for purpose in Ownership.Purpose.allCases {
            for mode: UInt16 in [0o600, 0o1600, 0o644, 0o755, 0o400] {
                #expect(Ownership(Self.me).flaw(of: file(mode: mode), for: purpose) == nil)
            }
        }
    }

    @Test("Ownership: another owner, file type, link or writer is reported as a flaw of its kind")
    func flaws() {
        let rule = Ownership(Self.me)
        #expect(rule.flaw(of: file(owner: 65534)) == .otherOwner(65534, user: 1000))
        #expect(rule.flaw(of: file(owner: 0)) == .otherOwner(0, user: 1000))
        for kind in [FileStatus.Kind.directory, .symbolicLink, .other] {
            #expect(rule.flaw(of: file(kind: kind)) == .notRegular)
        }
        #expect(rule.flaw(of: file(links: 2)) == .severalNames(2))
        #expect(rule.flaw(of: file(mode: 0o606)) == .writableByOthers)
        #expect(rule.flaw(of: file(mode: 0o666)) == .writableByOthers)
        #expect(rule.flaw(of: file(group: 50, mode: 0o660)) == .writableByGroup(50))
    }

    @Test("Ownership: a file of another user has a flaw for root too")
    func root() {
        let rule = Ownership(FileUser(user: 0, group: 0))
        #expect(rule.flaw(of: file(owner: 1000)) == .otherOwner(1000, user: 0))
        #expect(rule.flaw(of: file(owner: 0)) == nil)
    }

    @Test("Ownership: content may have several links, and a file to remove may be writable for others")
    func purposes() {
        let rule = Ownership(Self.me)
        #expect(rule.flaw(of: file(links: 3), for: .content) == nil)
        #expect(rule.flaw(of: file(mode: 0o666), for: .content) == .writableByOthers)
        #expect(rule.flaw(of: file(mode: 0o666, links: 3), for: .removal) == nil)
        #expect(rule.flaw(of: file(owner: 1), for: .removal) == .otherOwner(1, user: 1000))
        #expect(rule.flaw(of: file(kind: .directory), for: .removal) == .notRegular)
    }

    @Test("Ownership: the user's effective group may write, so a umask of 002 is no flaw")
    func ownGroup() {
        #expect(Ownership(Self.me).flaw(of: file(mode: 0o664)) == nil)
        #expect(Ownership(FileUser(user: 1000, group: 1001)).flaw(of: file(group: 1001, mode: 0o664)) == nil)
    }

    @Test("Ownership: another group may write only with sharing on and in a directory of that group")
    func sharedGroup() {
        var user = Self.me
        let shared = file(group: 50, mode: 0o664)
        let team = file(owner: 0, group: 50, mode: 0o2775, kind: .directory)
        #expect(Ownership(user, directory: team).flaw(of: shared) == .writableByGroup(50))
        user.sharesWithGroup = true
        #expect(Ownership(user, directory: team).flaw(of: shared) == nil)
        #expect(Ownership(user).flaw(of: shared) == .writableByGroup(50))
        let others = file(owner: 0, group: 51, mode: 0o2775, kind: .directory)
        #expect(Ownership(user, directory: others).flaw(of: shared) == .writableByGroup(50))
        let closed = file(owner: 0, group: 50, mode: 0o755, kind: .directory)
        #expect(Ownership(user, directory: closed).flaw(of: shared) == .writableByGroup(50))
        // Sharing covers the group, and no other user.
        #expect(Ownership(user, directory: team).flaw(of: file(group: 50, mode: 0o666)) == .writableByOthers)
        #expect(Ownership(user, directory: team).flaw(of: file(owner: 7, group: 50, mode: 0o664)) != nil)
    }

    @Test("Ownership: where all files have one owner and mode, those of a new file count as the user's")
    func oneOwner() {
        let sample = Ownership.Sample(file(owner: 0, group: 0, mode: 0o777))
        let rule = Ownership(Self.me, sample: sample)
        #expect(rule.flaw(of: file(owner: 0, group: 0, mode: 0o777)) == nil)
        #expect(rule.flaw(of: file(owner: 1000, mode: 0o600)) == .otherOwner(1000, user: 1000))
        #expect(rule.flaw(of: file(owner: 0, links: 2)) == .severalNames(2))
        // A new file that only its owner can write to allows no more to others.
        let strict = Ownership(Self.me, sample: Ownership.Sample(file(owner: 0, mode: 0o755)))
        #expect(strict.flaw(of: file(owner: 0, mode: 0o757)) == .writableByOthers)
    }

    @Test("Ownership: no random file of another owner, or writable for other users, is free of flaws")
    func property() {
        var random = SeededGenerator(seed: 20_260)
        for _ in 0..<20_000 {
            let ids: [UInt32] = [0, 50, 1000, 65534]
            let user = FileUser(
                user: ids.randomElement(using: &random) ?? 0, group: ids.randomElement(using: &random) ?? 0,
                sharesWithGroup: Bool.random(using: &random))
            let kinds: [FileStatus.Kind] = [.regular, .regular, .regular, .directory, .symbolicLink, .other]
            let found = file(
                owner: ids.randomElement(using: &random) ?? 0, group: ids.randomElement(using: &random) ?? 0,
                mode: UInt16.random(in: 0...0o7777, using: &random), links: UInt64.random(in: 0...3, using: &random),
                kind: kinds.randomElement(using: &random) ?? .other)
            let place = file(
                group: ids.randomElement(using: &random) ?? 0, mode: UInt16.random(in: 0...0o7777, using: &random),
                kind: .directory)
            guard Ownership(user, directory: place).flaw(of: found) == nil else { continue }
            #expect(found.owner == user.user && found.kind == .regular && found.linkCount <= 1)
            #expect(found.mode & 0o002 == 0, "\(found)")
            #expect(
                found.mode & 0o020 == 0 || found.group == user.group
                    || user.sharesWithGroup && place.group == found.group && place.mode & 0o020 != 0, "\(found)")
        }
    }
}

@Suite("Ownership of opened files")
struct OwnershipFileTests {
    static let isRoot = geteuid() == 0
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func flaw(_ path: FilePath, _ access: FileAccess = .readWrite) -> Ownership.Flaw? {
        do throws(FileError) {
            try disk.openOurs(path, access).close()
            return nil
        } catch {
            guard case .notOurs(let flaw) = error.kind else { return nil }
            return flaw
        }
    }

    @Test(
        "Ownership: openOurs() refuses an open file with other writers, several links or another type",
        arguments: [FileAccess.readOnly, .readWrite])
    func opened(access: FileAccess) throws {
        let path = try directory.put("a", [1])
        #expect(flaw(path, access) == nil)
        #expect(chmod(path.string, 0o646) == 0)
        #expect(flaw(path, access) == .writableByOthers)
        #expect(chmod(path.string, 0o600) == 0)
        try disk.link(path, to: directory.file("b"))
        #expect(flaw(path, access) == .severalNames(2))
        try disk.unlink(directory.file("b"))
        #expect(symlink(path.string, directory.file("c").string) == 0)
        #expect(flaw(directory.file("c"), access) == .notRegular)
        #expect(mkfifo(directory.file("d").string, 0o600) == 0)
        #expect(flaw(directory.file("d"), access) == .notRegular)
        #expect(throws: FileError(.open, directory.file("none"), errno: ENOENT)) {
            try disk.openOurs(directory.file("none"), access)
        }
    }

    @Test("Ownership: a file of another user is refused for root", .enabled(if: isRoot, "only root gives files away"))
    func otherOwner() throws {
        let path = try directory.put("a", [1])
        #expect(chown(path.string, 65534, 65534) == 0)
        #expect(flaw(path) == .otherOwner(65534, user: 0))
        #expect(try directory.names == ["a"])
    }

    @Test(
        "Ownership: a file that its directory's group can write to is ours only with sharing on",
        .enabled(if: isRoot, "only root gives files to any group"))
    func group() throws {
        let path = try directory.put("a", [1])
        #expect(chown(path.string, 0, 4242) == 0 && chmod(path.string, 0o664) == 0)
        #expect(flaw(path) == .writableByGroup(4242))
        let sharing = LocalFileSystem(sharesWithGroup: true)
        #expect(throws: FileError(.open, path, kind: .notOurs(.writableByGroup(4242)))) {
            try sharing.openOurs(path, .readWrite)
        }
        #expect(chown(directory.path.string, 0, 4242) == 0 && chmod(directory.path.string, 0o2775) == 0)
        try sharing.openOurs(path, .readWrite).close()
        #expect(flaw(path) == .writableByGroup(4242))
    }

    /// The rule of vfat and CIFS, on a disk in memory.
    @Test("Ownership: on a disk with one owner for all files they are ours, and on another they are not")
    func sample() throws {
        let model = ModelDisk()
        try model.create("/d/a", mode: 0o600).close()
        try model.openOurs("/d/a", .readOnly).close()
        try model.give("/d/a", to: 7)
        #expect(throws: FileError(.open, "/d/a", kind: .notOurs(.otherOwner(7, user: 1000)))) {
            try model.openOurs("/d/a", .readOnly)
        }
        let oneOwner = FaultyFileSystem(owner: 7, over: model)
        try oneOwner.openOurs("/d/a", .readOnly).close()
        let unnamedless = FaultyFileSystem(missing: [.unnamed], owner: 7, over: model)
        try unnamedless.openOurs("/d/a", .readOnly).close()
        #expect(model.image.files == ["/d/a"])
    }
}
