import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("SmallFilePublisher", .timeLimit(.minutes(30)))
struct SmallFilePublisherTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory
    let bytes: [UInt8] = Array("small".utf8)

    init() throws { directory = try TemporaryDirectory() }

    private func order(_ rule: ConflictRule = .rename, _ name: String = "a.txt") -> PublishOrder {
        PublishOrder(
            directory: directory.path, name: name, rule: rule, length: 0,
            modificationTime: FileTime(seconds: 784_111_777), source: FileSource(url: "http://h/a.txt"))
    }

    private func publish(
        _ rule: ConflictRule = .rename, _ name: String = "a.txt", _ fileSystem: (any FileSystem)? = nil
    ) throws -> String {
        let publisher = SmallFilePublisher(fileSystem: fileSystem ?? disk, syncs: true)
        return switch try publisher.publish(bytes, order(rule, name)) {
        case .published(let published): published.name
        case .twin(let path): "twin \(path.lastComponent?.string ?? "")"
        case .exists(let path): "exists \(path.lastComponent?.string ?? "")"
        case .blocked(let path): "blocked \(path.lastComponent?.string ?? "")"
        case .noFreeName: "none"
        case .needsPartFile: "part"
        }
    }

    @Test("SmallFilePublisher: a file appears in one step with name, mode, time and source, and nothing beside it")
    func publishes() throws {
        #expect(try publish() == "a.txt")
        #expect(try directory.names == ["a.txt"])
        #expect(directory.bytes("a.txt") == bytes)
        let file = try disk.openOurs(directory.file("a.txt"), .readOnly)
        let (attribute, status) = (try #require(SourceAttribute.read(file)), try file.status())
        #expect(attribute.matches(url: "http://h/a.txt", status))
        #expect(attribute.length == ByteCount(bytes.count))
        #expect(status.mode == 0o666 & ~disk.creationMask)
        #expect(status.modified == FileTime(seconds: 784_111_777))
    }

    @Test("SmallFilePublisher: publishing without syncing takes six calls")
    func cost() throws {
        let faulty = FaultyFileSystem()
        let publisher = SmallFilePublisher(fileSystem: faulty, syncs: false)
        _ = try publisher.publish(bytes, order())
        #expect(
            faulty.log.map { $0.split(separator: " ").first } == ["create", "write", "set", "set", "inspect", "link"])
    }

    @Test("SmallFilePublisher: an empty file is published")
    func empty() throws {
        let publisher = SmallFilePublisher(fileSystem: disk, syncs: false)
        guard case .published(let published) = try publisher.publish([], order()) else {
            Issue.record("not published")
            return
        }
        #expect(directory.bytes(published.name) == [])
    }

    @Test(
        "SmallFilePublisher: an existing file stays, and the conflict rule decides the result (A42)",
        arguments: [
            (ConflictRule.rename, "a (1).txt"), (.fail, "exists a.txt"), (.skip, "exists a.txt"),
            (.overwrite, "blocked a.txt"),
        ])
    func conflicts(rule: ConflictRule, outcome: String) throws {
        try directory.put("a.txt", [9])
        #expect(try publish(rule) == outcome)
        #expect(directory.bytes("a.txt") == [9])
    }

    @Test(
        "SmallFilePublisher: the name of a file with the same bytes and source is kept; of others the next one is taken"
    )
    func twin() throws {
        let publisher = SmallFilePublisher(fileSystem: disk, syncs: false)
        func publish(_ bytes: String, from url: String = "http://h/a.txt", keeps: Bool = true) throws -> String {
            var order = order()
            (order.source, order.keepsTwin) = (FileSource(url: url), keeps)
            switch try publisher.publish(Array(bytes.utf8), order) {
            case .published(let published): return published.name
            case .twin(let path): return "twin \(path.lastComponent?.string ?? "")"
            default: return "other"
            }
        }
        #expect(try publish("one") == "a.txt")
        #expect(try publish("one") == "twin a.txt")
        #expect(try publish("two") == "a (1).txt")
        #expect(try publish("one", from: "http://h/b.txt") == "a (2).txt")
        #expect(try publish("one", keeps: false) == "a (3).txt")
        // The user has written into it.
        try directory.put("a.txt", Array("eno".utf8))
        #expect(try publish("one") == "a (4).txt")
        #expect(try directory.names.count == 5)
    }

    @Test("SmallFilePublisher: another download's part file makes it take the next name or report blocked")
    func partOfOthers() throws {
        try directory.put("a.txt.part", [9])
        #expect(try publish() == "a (1).txt")
        #expect(try publish(.fail) == "blocked a.txt.part")
        #expect(try publish(.overwrite) == "blocked a.txt.part")
    }

    @Test("SmallFilePublisher: a locked part file is never replaced by a file of its name")
    func overwritesNoPart() throws {
        let part = try PartFile.create(at: directory.file("a.part"), fileSystem: disk)
        #expect(try publish(.overwrite, "a.part") == "blocked a.part")
        #expect(try publish(.rename, "a.part") == "a (1).part")
        #expect(try part.isIntact(length: 0))
    }

    @Test("SmallFilePublisher: without unnamed files it asks for a part file and leaves nothing")
    func unsupported() throws {
        #expect(try publish(.rename, "a.txt", FaultyFileSystem(missing: [.unnamed])) == "part")
        #expect(try directory.names == [])
    }

    @Test("SmallFilePublisher: if links are refused, as sandboxes do, it asks for a part file and leaves nothing")
    func refusedLink() throws {
        let faulty = FaultyFileSystem { operation, _ in operation == .link ? .permission : nil }
        #expect(try publish(.rename, "a.txt", faulty) == "part")
        #expect(try directory.names == [])
    }

    @Test("SmallFilePublisher: a missing directory is an error (B5)")
    func missingDirectory() throws {
        let publisher = SmallFilePublisher(fileSystem: disk, syncs: true)
        var order = order()
        order.directory = directory.file("none")
        #expect(throws: PublishError.self) { try publisher.publish(bytes, order) }
    }

    @Test("SmallFilePublisher: concurrent publications get different names, each with its whole bytes")
    func race() async throws {
        let place = directory.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let publisher = SmallFilePublisher(
                        fileSystem: LocalFileSystem(), syncs: false)
                    let order = PublishOrder(directory: place, name: "a.txt", rule: .rename, length: 0)
                    _ = try publisher.publish([UInt8](repeating: UInt8(index), count: 1000), order)
                }
            }
            try await group.waitForAll()
        }
        let names = try directory.names
        #expect(names.count == 40)
        #expect(Set(names.map { directory.bytes($0) }).count == 40)
        #expect(names.allSatisfy { directory.bytes($0)?.count == 1000 })
    }

    @Test(
        "SmallFilePublisher: killed before any call, the name is absent or whole, and nothing else is left (B1)",
        arguments: 0..<12)
    func killed(n: Int) throws {
        _ = try? publish(.rename, "a.txt", FaultyFileSystem(.fromThen(n)))
        let names = try directory.names
        #expect(names == [] || names == ["a.txt"])
        if names == ["a.txt"] { #expect(directory.bytes("a.txt") == bytes) }
    }

    @Test("SmallFilePublisher: one failing call gives a whole and synced file, or no published one", arguments: 0..<12)
    func oneFailure(n: Int) throws {
        let faulty = FaultyFileSystem(.once(n))
        if let name = try? publish(.rename, "a.txt", faulty) {
            #expect(directory.bytes(name) == bytes)
            if n < faulty.log.count { #expect(!faulty.log[n].hasPrefix("sync")) }
        }
        #expect(faulty.log.filter { $0 == "sync \(directory.path.lastComponent?.string ?? "")" }.count <= 1)
    }

    @Test("SmallFilePublisher: the error of a failed sync names the file, not the directory")
    func failedSync() {
        let faulty = FaultyFileSystem { operation, _ in operation == .sync ? .other(22) : nil }
        let error = #expect(throws: PublishError.self) { try publish(.rename, "a.txt", faulty) }
        guard case .file(let error)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.operation == .sync && error.path == directory.file("a.txt"))
    }
}
