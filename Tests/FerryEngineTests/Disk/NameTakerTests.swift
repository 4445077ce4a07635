import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("NameTaker", .timeLimit(.minutes(30)))
struct NameTakerTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    let taker: NameTaker

    init() throws {
        directory = try TemporaryDirectory()
        taker = NameTaker(fileSystem: disk)
    }

    private func take(_ name: String, _ rule: ConflictRule = .rename) throws -> String {
        switch try taker.take(name, in: directory.path, rule: rule) {
        case .taken(let part, let paths, _):
            held.parts.withLock { $0.append(part) }
            #expect(part.path == paths.part)
            return paths.name
        case .exists(let path): return "exists \(path.lastComponent?.string ?? "")"
        case .blocked(let path): return "blocked \(path.lastComponent?.string ?? "")"
        case .noFreeName: return "none"
        }
    }
    private let held = PartFileHolder()

    @Test("NameTaker: a free name is taken by creating its part file alone")
    func free() throws {
        #expect(try take("a.zip") == "a.zip")
        #expect(try directory.names == ["a.zip.part"])
    }

    @Test(
        "NameTaker: any file that a download of that name keeps makes it take the next name (A42)",
        arguments: ["a.zip", "a.zip.part", "a.zip.part.ferry", "a.zip.part.old", "a.zip.part.ferry.old"])
    func taken(name: String) throws {
        try directory.put(name, [1])
        #expect(try take("a.zip") == "a (1).zip")
        #expect(directory.bytes(name) == [1])
    }

    @Test("NameTaker: numbers are tried in order until a name is free")
    func numbers() throws {
        for name in ["a", "a (1)", "a (2).part", "a (3).part.ferry"] { try directory.put(name, [1]) }
        #expect(try take("a") == "a (4)")
    }

    @Test("NameTaker: a directory in which every name is taken gives none")
    func noFreeName() throws {
        for name in ["a", "a (1)", "a (2)", "a (3)"] { try directory.put(name, [1]) }
        let stuck = NameTaker(fileSystem: disk, maxNumber: 3)
        guard case .noFreeName = try stuck.take("a", in: directory.path, rule: .rename) else {
            Issue.record("it found a name")
            return
        }
    }

    @Test(
        "NameTaker: the conflict rule decides when the final name exists",
        arguments: [(ConflictRule.fail, "exists a"), (.skip, "exists a"), (.overwrite, "a"), (.rename, "a (1)")])
    func rules(rule: ConflictRule, outcome: String) throws {
        try directory.put("a", [1])
        #expect(try take("a", rule) == outcome)
        #expect(directory.bytes("a") == [1])
    }

    @Test(
        "NameTaker: a replaceable final file is taken under every rule, unless a download has files beside it",
        arguments: [ConflictRule.fail, .skip, .overwrite, .rename])
    func replaced(rule: ConflictRule) throws {
        try directory.put("a", [1])
        guard
            case .taken(let part, let paths, _) = try taker.take("a", in: directory.path, rule: rule, mayReplace: true)
        else {
            Issue.record("it was not taken")
            return
        }
        held.parts.withLock { $0.append(part) }
        #expect(paths.name == "a")
        #expect(directory.bytes("a") == [1])
        #expect(try take("a", rule) != "a")
        for name in ["b", "b.part.ferry"] { try directory.put(name, [1]) }
        if case .taken(let part, let paths, _) = try taker.take("b", in: directory.path, rule: rule, mayReplace: true) {
            held.parts.withLock { $0.append(part) }
            #expect(rule == .rename && paths.name == "b (1)")
        } else {
            #expect(rule != .rename)
        }
    }

    @Test(
        "NameTaker: another download's part file is never touched, whatever the rule",
        arguments: [ConflictRule.fail, .skip, .overwrite])
    func blocked(rule: ConflictRule) throws {
        try directory.put("a.part", [1])
        #expect(try take("a", rule) == "blocked a.part")
        #expect(directory.bytes("a.part") == [1])
    }

    @Test(
        "NameTaker: a directory under the final name blocks it, or makes rename take the next name",
        arguments: ConflictRule.allCases)
    func directories(rule: ConflictRule) throws {
        try disk.makeDirectory(directory.file("a"))
        #expect(try take("a", rule) == (rule == .rename ? "a (1)" : "blocked a"))
    }

    @Test("NameTaker: a dangling symbolic link occupies its name as a file does")
    func danglingLink() throws {
        symlink("nowhere", directory.file("a").string)
        #expect(try take("a") == "a (1)")
    }

    @Test(
        "NameTaker: downloads named foo and foo.part in one directory share no path, in either order",
        arguments: [false, true])
    func partOfTheOther(reversed: Bool) throws {
        let names = reversed ? ["foo.part", "foo"] : ["foo", "foo.part"]
        let taken = try names.map { try take($0) }
        #expect(Set(taken).count == 2)
        let paths = taken.compactMap { DownloadPaths(directory: directory.path, name: $0) }
        let all = paths.flatMap { [$0.final, $0.part, $0.journal, $0.oldPart, $0.oldJournal] }
        #expect(Set(all).count == 10)
    }

    @Test("NameTaker: overwriting a.part is refused while it is the part file of a")
    func overwritesNoPart() throws {
        #expect(try take("a") == "a")
        #expect(try take("a.part", .overwrite) != "a.part")
    }

    @Test(
        "NameTaker: a file that appears between the check and the creation is noticed; the next name is taken (A42)",
        arguments: ["a", "a.part.ferry"])
    func appears(name: String) throws {
        let hook = HookedFileSystem(disk, beforeCreating: true) { [directory] in try directory.put(name, [1]) }
        let taker = NameTaker(fileSystem: hook)
        guard case .taken(let part, let paths, _) = try taker.take("a", in: directory.path, rule: .rename) else {
            Issue.record("nothing was taken")
            return
        }
        #expect(paths.name == "a (1)")
        #expect(try part.isIntact(length: 0))
        #expect(try directory.names == [name, "a (1).part"].sorted())
    }

    @Test("NameTaker: an empty part file of ours that a crash left without a journal is taken over")
    func abandoned() throws {
        try PartFile.create(at: directory.file("a.part"), fileSystem: disk).close()
        #expect(try take("a") == "a")
    }

    @Test("NameTaker: a part file that is locked, or has a journal, bytes or another mode, is not taken over")
    func notAbandoned() throws {
        let locked = try PartFile.create(at: directory.file("a.part"), fileSystem: disk)
        #expect(try take("a") == "a (1)")
        locked.close()
        try PartFile.create(at: directory.file("b.part"), fileSystem: disk).close()
        try directory.put("b.part.ferry", [1])
        #expect(try take("b") == "b (1)")
        #expect(try disk.exists(directory.file("b.part")))
        let full = try PartFile.create(at: directory.file("c.part"), fileSystem: disk)
        try full.write([1], at: 0)
        full.close()
        #expect(try take("c") == "c (1)")
        try directory.put("d.part")
        #expect(try take("d") == "d (1)")
    }

    @Test(
        "NameTaker: concurrent callers get different names and different files (B8)", arguments: [ConflictRule.rename])
    func race(rule: ConflictRule) async throws {
        for _ in 0..<5 {
            let place = try TemporaryDirectory()
            // Each caller has a file system of its own: nothing is shared but the disk, as between processes.
            let results = try await withThrowingTaskGroup(of: (String, PartFile).self) { group in
                for index in 0..<24 {
                    group.addTask {
                        let taker = NameTaker(fileSystem: LocalFileSystem())
                        let name = index % 3 == 0 ? "a.part" : "a"
                        guard case .taken(let part, let paths, _) = try taker.take(name, in: place.path, rule: rule)
                        else {
                            throw PartFileError.missing(place.path)
                        }
                        return (paths.name, part)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(results.map(\.0)).count == 24)
            #expect(Set(results.map(\.1.inode)).count == 24)
            for (_, part) in results { #expect(try part.isIntact(length: 0)) }
        }
    }

    @Test("NameTaker: concurrent taking, removal and takeover never give two holders the same file")
    func churn() async throws {
        let place = directory.path
        let owners = Owners()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let taker = NameTaker(fileSystem: LocalFileSystem())
                    for round in 0..<60 {
                        guard case .taken(let part, let paths, _) = try taker.take("a", in: place, rule: .rename) else {
                            continue
                        }
                        #expect(owners.enter(paths.name), "two have \(paths.name)")
                        #expect(try part.isIntact(length: 0))
                        owners.leave(paths.name)
                        // Some remove the file, some only close it, as if killed.
                        if (round + index) % 2 == 0 { try part.remove() } else { part.close() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("NameTaker: one failing call leaves the files of other downloads as they are (B4)", arguments: 0..<24)
    func faults(n: Int) throws {
        try directory.put("a", [1])
        try directory.put("a (1).part", [2])
        let faulty = NameTaker(fileSystem: FaultyFileSystem(.once(n)))
        _ = try? faulty.take("a", in: directory.path, rule: .rename)
        #expect(directory.bytes("a") == [1])
        #expect(directory.bytes("a (1).part") == [2])
    }
}
