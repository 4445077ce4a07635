import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Opening the catalogue", .timeLimit(.minutes(30)))
struct CatalogueOpeningTests {
    @Test("Catalogue: directory and files are readable by their owner alone")
    func modes() async throws {
        try await StoreBench.withDirectory { directory in
            let catalogue = try await StoreBench.open(directory).catalogue
            try await catalogue.commit([.insert([StoreBench.row("a")])])
            #expect(try mode(directory + "/state") == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/state").sorted()
            #expect(names == ["catalogue.sqlite", "catalogue.sqlite-shm", "catalogue.sqlite-wal", "lock"])
            for name in names { #expect(try mode(directory + "/state/" + name) == 0o600) }
            await catalogue.close()
        }
    }

    @Test("Catalogue: an open directory becomes private, and one with other files keeps its mode")
    func directoryModes() async throws {
        for (file, expected) in [(nil, 0o700), ("catalogue.sqlite", 0o700), ("notes.txt", 0o755)] {
            try await StoreBench.withDirectory { directory in
                let state = directory + "/state"
                try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
                if let file { try Data().write(to: URL(filePath: state + "/" + file)) }
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: state)
                try await StoreBench.open(directory).catalogue.close()
                #expect(try mode(state) == expected)
                #expect(try mode(state + "/catalogue.sqlite") == 0o600)
            }
        }
    }

    @Test("Catalogue: a second opening in this process is refused until the first is closed")
    func secondOpener() async throws {
        try await StoreBench.withDirectory { directory in
            for _ in 0..<3 {
                let catalogue = try await StoreBench.open(directory).catalogue
                let error = await #expect(throws: DownloadError.self) { try await StoreBench.open(directory) }
                #expect(error?.code == .catalogue)
                #expect(error?.message == "the catalogue in \(directory)/state is open already in this process")
                try await catalogue.commit([.update("absent", [.label("x")])])
                await catalogue.close()
            }
        }
    }

    @Test(
        "Catalogue: it cannot be opened while another process holds its lock (B9)",
        .enabled(if: RunningProgram.succeeds(["flock", "--version"]), "there is no flock command here"))
    func otherProcess() async throws {
        try await StoreBench.withDirectory { directory in
            try await StoreBench.open(directory).catalogue.close()
            let lock = directory + "/state/lock"
            let script = "echo $$ > \"$0\"; echo ready; read line"
            let (input, output) = (Pipe(), Pipe())
            let other = try RunningProgram(
                ["flock", "--exclusive", lock, "sh", "-c", script, lock], input: input.fileHandleForReading,
                output: output.fileHandleForWriting)
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
            let error = await #expect(throws: DownloadError.self) { try await StoreBench.open(directory) }
            let number = try String(contentsOfFile: lock, encoding: .utf8).trimmingCharacters(in: .newlines)
            #expect(error?.message == "the catalogue in \(directory)/state is open in another process (\(number))")
            try input.fileHandleForWriting.close()
            #expect(await other.end() == .exited(1))
            try await StoreBench.open(directory).catalogue.close()
        }
    }

    @Test("Catalogue: it can be opened again after a release without close")
    func released() async throws {
        try await StoreBench.withDirectory { directory in
            do {
                let catalogue = try await StoreBench.open(directory).catalogue
                try await catalogue.commit([.insert([StoreBench.row("a")])])
            }
            // The connection's thread may hold the catalogue a moment longer.
            var opening = try? await StoreBench.open(directory)
            while opening == nil { opening = try? await StoreBench.open(directory) }
            let catalogue = try #require(opening).catalogue
            #expect(try await catalogue.list() == ["a"])
            await catalogue.close()
        }
    }

    enum Damage: CaseIterable { case garbage, truncated, short, page }

    @Test(
        "Catalogue: a damaged database is moved aside unchanged, and a new one is made (B10)",
        arguments: Damage.allCases)
    func damaged(damage: Damage) async throws {
        try await StoreBench.withDirectory { directory in
            let path = directory + "/state/catalogue.sqlite"
            for number in 1...2 {
                let first = try await StoreBench.open(directory).catalogue
                try await first.commit([.insert(try (0..<200).map { try StoreBench.row("\($0)") })])
                await first.close()
                var bytes = try Data(contentsOf: URL(filePath: path))
                switch damage {
                case .garbage: bytes = Data(repeating: 0x41, count: 5000)
                case .truncated: bytes.removeLast(bytes.count / 2 / 4096 * 4096)
                case .short: bytes = bytes.prefix(50)
                case .page: for index in 4096..<bytes.count { bytes[index] ^= 0x55 }
                }
                try bytes.write(to: URL(filePath: path))
                let log = Data("log".utf8)
                try log.write(to: URL(filePath: path + "-wal"))

                let opening = try await StoreBench.open(directory)
                #expect(opening.isNew)
                #expect(opening.damaged == "\(path).damaged-\(number)")
                #expect(Catalogue.damaged(in: directory + "/state") == (1...number).map { "\(path).damaged-\($0)" })
                #expect(opening.note?.contains("damaged") == true)
                #expect(try await opening.catalogue.list() == [])
                try await opening.catalogue.commit([.insert([StoreBench.row("new")]), .complete])
                await opening.catalogue.close()
                #expect(try Data(contentsOf: URL(filePath: "\(path).damaged-\(number)")) == bytes)
                let again = try await StoreBench.open(directory)
                #expect(try await again.catalogue.list() == ["new"])
                #expect(!again.isNew)
                try await again.catalogue.commit([.remove(["new"])])
                await again.catalogue.close()
            }
        }
    }

    @Test("Catalogue: it is new until the list is marked complete, and a failed batch does not mark it")
    func completeness() async throws {
        try await StoreBench.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
            // The file after an end of the process between the first table and the others.
            let database = try Database(path: directory + "/state/catalogue.sqlite")
            try database.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            try database.close()
            let made = try await StoreBench.open(directory)
            #expect(made.isNew)
            try await made.catalogue.commit([.insert([StoreBench.row("a")])])
            await made.catalogue.close()
            let cut = try await StoreBench.open(directory)
            #expect(cut.isNew)
            await #expect(throws: DownloadError.self) {
                try await cut.catalogue.commit([.complete, .insert([StoreBench.row("a")])])
            }
            await cut.catalogue.close()
            let refused = try await StoreBench.open(directory)
            #expect(refused.isNew)
            try await refused.catalogue.commit([.complete])
            await refused.catalogue.close()
            let complete = try await StoreBench.open(directory)
            #expect(!complete.isNew)
            #expect(try await complete.catalogue.list() == ["a"])
            await complete.catalogue.close()
        }
    }

    @Test(
        "Catalogue: a database of a newer version is refused and left unchanged",
        arguments: [
            "PRAGMA user_version = 2", "INSERT INTO grdb_migrations VALUES ('2 something')",
        ])
    func newer(sql: String) async throws {
        try await StoreBench.withDirectory { directory in
            let catalogue = try await StoreBench.open(directory).catalogue
            try catalogue.database.sync { db in try db.execute(sql) }
            await catalogue.close()
            try await expectRefusal(directory, "newer version")
        }
    }

    @Test(
        "Catalogue: a database of another program is refused and left unchanged",
        arguments: [
            "PRAGMA application_id = 7; CREATE TABLE a (b)", "CREATE TABLE download (b)",
        ])
    func foreign(sql: String) async throws {
        try await StoreBench.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
            let database = try Database(path: directory + "/state/catalogue.sqlite")
            try database.execute(sql)
            try database.close()
            try await expectRefusal(directory, "another program")
        }
    }

    @Test("Catalogue: a path that cannot be used is an error with the reason")
    func unusable() async throws {
        try await StoreBench.withDirectory { directory in
            try Data().write(to: URL(filePath: directory + "/state"))
            let error = await #expect(throws: DownloadError.self) { try await StoreBench.open(directory) }
            #expect(error?.code == .catalogue)
            try FileManager.default.removeItem(atPath: directory + "/state")
            try FileManager.default.createDirectory(
                atPath: directory + "/state/catalogue.sqlite", withIntermediateDirectories: true)
            let other = await #expect(throws: DownloadError.self) { try await StoreBench.open(directory) }
            #expect(other?.message.contains("it is not a file") == true)
        }
    }

    private func expectRefusal(_ directory: String, _ text: String) async throws {
        let url = URL(filePath: directory + "/state/catalogue.sqlite")
        let before = try Data(contentsOf: url)
        for _ in 0..<2 {
            let error = await #expect(throws: DownloadError.self) { try await StoreBench.open(directory) }
            #expect(error?.code == .catalogue)
            #expect(error?.message.contains(text) == true)
            #expect(error?.recovery == .needsUser)
        }
        #expect(try Data(contentsOf: url) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/state")
        #expect(!names.contains { $0.contains("damaged") })
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
