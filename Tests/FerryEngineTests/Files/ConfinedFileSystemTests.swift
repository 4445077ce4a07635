import Dispatch
import FerryCore
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

#if canImport(Glibc)
    import Glibc
#endif

/// A path was checked at the request and opened later: a directory that had become a symbolic link meanwhile led out of
/// the allowed one.
@Suite("A confined file system", .timeLimit(.minutes(30)))
struct ConfinedFileSystemTests {
    let directory: TemporaryDirectory
    let disk = LocalFileSystem()
    let confined: any FileSystem

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["root", "root/inner", "outside"] { try disk.makeDirectory(directory.file(name)) }
        try directory.put("outside/secret", [1])
        try directory.put("root/inner/file", [2])
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("root/link").string, withDestinationPath: "../outside")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("root/inner/alias").string, withDestinationPath: "../../outside/secret")
        confined = disk.confined(to: [directory.file("root")])
    }

    @Test("Roots that are held stay the roots when they are moved, and confine as before")
    func held() throws {
        let held = confined.holdingRoots()
        let file = directory.file("root/inner/file")
        #expect(try held.status(file, followingLinks: false).length == 1)
        try disk.rename(directory.file("root"), to: directory.file("moved"), replacing: false)
        try disk.makeDirectory(directory.file("root"))
        #expect(try held.status(file, followingLinks: false).length == 1)
        #expect(throws: FileError.self) { try confined.status(file, followingLinks: false) }
        #expect(throws: FileError.self) { try held.status(directory.file("root/link/secret"), followingLinks: false) }
        #expect(throws: FileError.self) { try held.status(directory.file("outside/secret"), followingLinks: false) }
    }

    /// Each call of the protocol on a path, with a file that is there beside it.
    private func calls(on path: FilePath) -> [(String, () throws -> Void)] {
        let disk = confined
        let inner = directory.file("root/inner/file")
        return [
            ("open", { _ = try disk.open(path, .readOnly) }), ("write", { _ = try disk.open(path, .readWrite) }),
            ("create", { _ = try disk.create(path, mode: 0o600) }), ("link", { try disk.link(inner, to: path) }),
            ("linkFrom", { try disk.link(path, to: inner) }),
            ("rename", { try disk.rename(inner, to: path, replacing: true) }),
            ("renameFrom", { try disk.rename(path, to: inner, replacing: false) }),
            ("unlink", { try disk.unlink(path) }), ("makeDirectory", { try disk.makeDirectory(path) }),
            ("status", { _ = try disk.status(path, followingLinks: true) }),
            ("unnamed", { _ = try disk.openUnnamed(in: path, mode: 0o600) }),
            ("list", { _ = try disk.list(path) }), ("sync", { try disk.syncDirectory(path) }),
            ("space", { _ = try disk.space(at: path) }),
            (
                "linkUnnamed",
                {
                    guard let file = try? disk.openUnnamed(in: directory.file("root/inner"), mode: 0o600) else {
                        throw FileError(.link, path, kind: .confined)
                    }
                    try disk.link(file, to: path)
                }
            ),
        ]
    }

    @Test(
        "ConfinedFileSystem: with two roots each is confined, links and renames lead from one to the other, and no further"
    )
    func twoRoots() throws {
        for name in ["second", "root/nested", "third"] { try disk.makeDirectory(directory.file(name)) }
        let two = disk.confined(to: [directory.file("second"), directory.file("root")])
        let inner = directory.file("root/inner/file")
        try two.link(inner, to: directory.file("second/linked"))
        try two.rename(directory.file("second/linked"), to: directory.file("root/renamed"), replacing: false)
        #expect(directory.bytes("root/renamed") == [2])
        for place in ["third/x", "root/link/secret", "outside/secret"] {
            #expect(kind { try two.link(inner, to: directory.file(place)) } == .confined, "\(place)")
        }
        // A root below another one is no exception to the links that are not followed.
        let nested = disk.confined(to: [directory.file("root/link"), directory.file("root")])
        #expect(kind { _ = try nested.open(directory.file("root/link/secret"), .readOnly) } == .confined)
        #expect(kind { _ = try nested.list(directory.file("root/link")) } == .notDirectory)
    }

    @Test("ConfinedFileSystem: no call follows a symbolic link, leaves the root or reaches a sibling with its prefix")
    func refuses() throws {
        for place in ["root/link/secret", "root/link/new", "outside/secret", "root/../outside/secret", "rootless"] {
            for (name, call) in calls(on: directory.file(place)) {
                #expect(kind(call) == .confined, "\(name) \(place)")
            }
            #expect(!confined.isWritable(directory.file(place)), "\(place)")
        }
        #expect(directory.bytes("outside/secret") == [1])
        #expect(try disk.list(directory.file("outside")) == ["secret"])
        #expect(directory.bytes("root/inner/file") == [2])
    }

    @Test("ConfinedFileSystem: a symbolic link at the end of a path is not followed")
    func lastLink() throws {
        let alias = directory.file("root/inner/alias")
        #expect(kind { _ = try confined.open(alias, .readOnly) } == .confined)
        #expect(kind { _ = try confined.open(alias, .readWrite) } == .confined)
        #expect(kind { _ = try confined.create(alias, mode: 0o600) } == .exists)
        #expect(try confined.status(alias, followingLinks: true).kind == .symbolicLink)
        #expect(kind { _ = try confined.list(directory.file("root/link")) } != nil)
        #expect(!confined.isWritable(directory.file("root/link")))
        // Its own name may be removed.
        try confined.unlink(alias)
        #expect(directory.bytes("outside/secret") == [1])
    }

    @Test("ConfinedFileSystem: all calls work below the root, and its parent can be inspected")
    func works() throws {
        let place = directory.file("root/a/b")
        try confined.makeDirectories(place, syncs: true)
        let file = try confined.create(place.appending("f"), mode: 0o600)
        try file.write([7, 8], at: 0)
        try confined.rename(place.appending("f"), to: directory.file("root/g"), replacing: false)
        #expect(
            kind {
                try confined.rename(
                    directory.file("root/g"), to: directory.file("root/inner/file"),
                    replacing: false)
            } == .exists)
        try confined.link(directory.file("root/g"), to: place.appending("h"))
        #expect(directory.bytes("root/a/b/h") == [7, 8])
        #expect(try confined.list(directory.file("root/a/b")) == ["h"])
        #expect(try confined.space(at: place).freeBytes > 0)
        #expect(confined.isWritable(place) && confined.isWritable(directory.file("root")))
        try confined.syncDirectory(directory.file("root"))
        #expect(try confined.statusIfPresent(directory.path)?.kind == .directory)
        #expect(try confined.statusIfPresent(place.appending("none")) == nil)
        if let unnamed = try? confined.openUnnamed(in: place, mode: 0o600) {
            try confined.link(unnamed, to: place.appending("u"))
            #expect(directory.bytes("root/a/b/u") == [])
        }
        try confined.unlink(directory.file("root/g"))
        #expect(directory.bytes("root/g") == nil)
    }

    @Test("ConfinedFileSystem: the root itself may be a symbolic link")
    func linkedRoot() throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("way").string, withDestinationPath: "root/inner")
        let confined = disk.confined(to: [directory.file("way")])
        #expect(try confined.open(directory.file("way/file"), .readOnly).read(0..<1) == [2])
        _ = try confined.create(directory.file("way/new"), mode: 0o600)
        #expect(directory.bytes("root/inner/new") == [])
    }

    /// One thread exchanges a directory for a symbolic link in a loop, another creates files through its name.
    @Test("ConfinedFileSystem: a directory exchanged for a symbolic link at any moment leads nowhere else")
    func exchanged() async throws {
        let (place, away) = (directory.file("root/swap").string, directory.file("root/away").string)
        let outside = directory.file("outside").string
        try disk.makeDirectory(FilePath(place))
        let stop = Once()
        let swapper = DispatchGroup()
        DispatchQueue.global().async(group: swapper) {
            while !stop.isDone {
                _ = rename(place, away)
                _ = symlink(outside, place)
                _ = unlink(place)
                _ = rename(away, place)
            }
        }
        var made = 0
        for number in 0..<4000 where made < 1000 {
            guard let file = try? confined.create(FilePath(place).appending("n\(number)"), mode: 0o600) else {
                continue
            }
            file.close()
            made += 1
        }
        _ = stop.isFirst
        await withCheckedContinuation { continuation in
            swapper.notify(queue: .global()) { continuation.resume() }
        }
        #expect(made > 0)
        #expect(try disk.list(directory.file("outside")) == ["secret"])
    }

    #if os(Linux)
        @Test("LocalFileSystem: without openat2 a path is opened component by component, and links are refused")
        func stepByStep() throws {
            let base = Glibc.open(directory.file("root").string, O_RDONLY | O_DIRECTORY)
            defer { _ = LocalFileSystem.closeDescriptor(base) }
            for (path, isOpen) in [
                ("inner", true), (".", true), ("link", false), ("inner/alias", false), ("no", false),
            ] {
                let descriptor = LocalFileSystem.openStepByStep(FilePath(path), beneath: base)
                #expect((descriptor >= 0) == isOpen, "\(path)")
                if descriptor >= 0 { _ = LocalFileSystem.closeDescriptor(descriptor) }
                let whole = LocalFileSystem.openDirectory(FilePath(path), beneath: base)
                #expect((whole >= 0) == isOpen, "\(path)")
                if whole >= 0 { _ = LocalFileSystem.closeDescriptor(whole) }
            }
        }
    #endif
}
