import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import SystemPackage
import Testing

@Suite("The binary: machine faults", .serialized, .timeLimit(.minutes(30)))
struct MachineTests {
    private static let resource = Resource(size: 4_000_000, seed: 71)

    /// Downloads the first 2.5 MB of a file, and stops there.
    private static func interrupt(_ server: OriginServer, _ place: Workplace) async throws {
        server.serve("/f.bin", resource)
        server.script("/f.bin", [.cut(after: 2_500_000)], then: .status(403))
        let outcome = try await FerryProcess.run(["get", "-q", "-x", "1", server.url("/f.bin")], in: place)
        #expect(outcome.code == 5, "\(outcome.error)")
        #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
        server.always("/f.bin", .honest)
    }

    @Test("ferry get -d: missing directories are created (B5)")
    func directories() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", "-q", "-d", "a/b/c", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("a/b/c/f.bin")])
        }
    }

    @Test(
        "ferry get -d: a file in place of a directory is exit code 2 before any request (B5)", arguments: ["a", "a/b"])
    func fileInTheWay(path: String) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write("mine", to: "a")
            let outcome = try await FerryProcess.run(["get", "-d", path, server.url("/f.bin")], in: place)
            #expect(outcome.code == 2, "\(outcome.error)")
            #expect(outcome.error.contains("Not a directory"), "\(outcome.error)")
            #expect(server.requests.isEmpty)
            #expect(place.names == ["a"])
        }
    }

    enum Harm: String, Sendable, CaseIterable { case deleted, shortened, replaced }

    @Test(
        "ferry get: a part file deleted, shortened or replaced by another program is never published (B6)",
        arguments: Harm.allCases)
    func harmed(harm: Harm) async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.hold(after: 2_500_000, gate)])
            let place = try Workplace()
            let process = try FerryProcess(
                ["get", "-x", "1", server.url("/f.bin")], in: place, error: .terminal(columns: 120, lines: 24))
            await process.waitForTerminal("62.5%")
            let part = place.path("f.bin.part")
            switch harm {
            case .deleted: try FileManager.default.removeItem(atPath: part)
            case .shortened: #expect(truncate(part, 1000) == 0)
            case .replaced:
                try Data(repeating: 7, count: 4_000_000).write(to: URL(filePath: place.path("other")))
                #expect(rename(place.path("other"), part) == 0)
            }
            gate.open()
            let outcome = try await process.outcome()
            #expect(outcome.code == 8, "\(outcome.terminal)")
            #expect(!place.names.contains("f.bin"))
            if harm == .replaced { #expect(try place.data("f.bin.part") == Data(repeating: 7, count: 4_000_000)) }
            let next = try await FerryProcess.run(["get", "-q", server.url("/f.bin")], in: place)
            #expect(next.code == 0, "\(next.error)")
            let name = try #require(next.lines.first)
            #expect(Self.resource.source.compare(file: name, size: Self.resource.size) == .equal)
        }
    }

    enum Damage: String, Sendable, CaseIterable { case missing, empty, torn, newer, foreign }

    @Test(
        "ferry get: with a missing, torn, newer or foreign journal the part file stays unused (B7)",
        arguments: Damage.allCases, [false, true])
    func damaged(damage: Damage, isNamed: Bool) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            try await Self.interrupt(server, place)
            let journal = FilePath(place.path("f.bin.part.ferry"))
            let record = try Journal.read(at: journal, fileSystem: LocalFileSystem())
            switch damage {
            case .missing: try FileManager.default.removeItem(atPath: journal.string)
            case .empty: #expect(truncate(journal.string, 0) == 0)
            case .torn: #expect(truncate(journal.string, 40) == 0)
            case .newer:
                // The version is in the header of each slot, under its checksum.
                try FileManager.default.removeItem(atPath: journal.string)
                var newer = record
                newer.version = 2
                try Journal.create(at: journal, record: newer, fileSystem: LocalFileSystem(), syncs: false).close()
            case .foreign: try Data("a letter to a friend\n".utf8).write(to: URL(filePath: journal.string))
            }
            let (part, kept) = (try place.data("f.bin.part"), try? place.data("f.bin.part.ferry"))
            let outcome = try await FerryProcess.run(
                ["get", "-v", "--no-progress", server.url("/f.bin")] + (isNamed ? ["-o", "f.bin"] : []), in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("f (1).bin")], "\(outcome.error)")
            #expect(
                Self.resource.source.compare(file: place.path("f (1).bin"), size: Self.resource.size) == .equal)
            #expect(try place.data("f.bin.part") == part)
            #expect((try? place.data("f.bin.part.ferry")) == kept)
            if damage != .missing { #expect(outcome.error.contains("f.bin.part.ferry"), "\(outcome.error)") }
        }
    }

    @Test(
        "ferry get: a journal beside a foreign part file counts only as far as samples match (B7)",
        arguments: [false, true])
    func otherFile(isRemade: Bool) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            try await Self.interrupt(server, place)
            let part = place.path("f.bin.part")
            if isRemade {
                // Most file systems reuse the inode number of the removed file.
                try FileManager.default.removeItem(atPath: part)
                try Data(repeating: 7, count: 4_000_000).write(to: URL(filePath: part), options: [])
            } else {
                // Created while the other exists: it has an inode number of its own.
                try Data(repeating: 7, count: 4_000_000).write(to: URL(filePath: place.path("other")))
                #expect(rename(place.path("other"), part) == 0)
            }
            let outcome = try await FerryProcess.run(["get", "-v", "--no-progress", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("checking"), "\(outcome.error)")
            #expect(place.names == ["f.bin"])
            #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
        }
    }

    @Test(
        "ferry get: with hardly any descriptors it completes or fails with a message, and never crashes (B12)",
        arguments: [8, 12, 16, 20, 24])
    func hardlyAny(limit: Int) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--retries", "2", server.url("/f.bin")], in: place,
                shell: "ulimit -n \(limit); exec \"$@\"")
            #expect((0...10).contains(outcome.code), "\(outcome.code): \(outcome.error)")
            #expect(outcome.code != 1, "\(outcome.error)")
            if outcome.code == 0 {
                #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
            } else {
                #expect(!outcome.error.isEmpty)
                #expect(!place.names.contains("f.bin"))
            }
        }
    }
}
