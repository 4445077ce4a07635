import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Lost catalogue", .timeLimit(.minutes(30)))
struct LostCatalogueTests {
    enum Loss: String, Sendable, CaseIterable {
        case deleted, overwritten, damagedInside
    }

    private static let size: Int64 = 6_000_000

    private func lose(_ home: AppHome, _ loss: Loss) throws {
        let path = home.state + "/catalogue.sqlite"
        switch loss {
        case .deleted:
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        case .overwritten:
            try Data(String(repeating: "this is no database\n", count: 5000).utf8).write(to: URL(filePath: path))
        case .damagedInside:
            // The header stays; every page behind it is damaged.
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            var data = try Data(contentsOf: URL(filePath: path))
            #expect(data.count > 4096)
            for index in stride(from: 100, to: data.count, by: 3) {
                data[index] = UInt8(truncatingIfNeeded: index &* 31)
            }
            try data.write(to: URL(filePath: path))
        }
    }

    @Test("Lost catalogue: a paused download stays paused with its limits, and completes after resume")
    func paused() async throws {
        try await AppHome.run { home in
            home.server.serve("/a", Resource(size: Self.size, seed: 1))
            let first = try home.app()
            try await home.begin("a", in: first, bytes: 1_000_000, ["rateLimit": 3_000_000, "metered": false])
            try await first.ask("pause", ["id": "a"])
            await first.kill()
            try lose(home, .deleted)
            home.server.always("/a", .honest)
            let second = try home.app()
            let found = try await second.list()
            #expect(found.map(\.state) == ["paused"])
            #expect(found.map(\.rateLimit) == [3_000_000])
            #expect(found.map(\.metered) == [false])
            #expect(found.map(\.bytes) == [home.claimed("a")])
            try await second.ask("resume", ["id": "a"])
            try await second.ask("wait", ["id": "a", "state": "completed"])
            try await second.close()
            #expect(home.names == ["a"])
        }
    }

    @Test(
        "Lost catalogue: it is rebuilt from journals with order, labels, user info and priorities (B10)",
        arguments: Loss.allCases)
    func rebuilt(_ loss: Loss) async throws {
        try await AppHome.run { home in
            for (seed, name) in ["a", "b", "c"].enumerated() {
                home.server.serve("/" + name, Resource(size: Self.size, seed: UInt64(seed + 1)))
            }
            let first = try home.app()
            try await home.begin("c", in: first, bytes: 700_000, ["userInfo": ["album": "7"]])
            try await home.begin("a", in: first, bytes: 1_000_000, ["label": "Ein Lied"])
            try await home.begin("b", in: first, bytes: 1_000_000, ["priority": 1])
            let before = try await first.list()
            #expect(before.map(\.id) == ["b", "c", "a"])
            await first.kill()
            if loss == .damagedInside {
                // The rows must be in the file itself, not only in its log.
                let again = try home.app(limit: 1)
                try await again.ask("activate")
                try await again.close()
            }
            let held = ["b", "c", "a"].map(home.claimed)
            try lose(home, loss)

            let gate = Gate()
            for name in ["a", "b", "c"] { home.server.always("/" + name, .hold(gate)) }
            let served = home.server.traffic.bodyBytesByPath
            let second = try home.app()
            let after = try await second.list()
            #expect(after.map(\.id) == ["b", "c", "a"])
            #expect(after.map(\.label) == [nil, nil, "Ein Lied"])
            #expect(after.map(\.userInfo) == [[:], ["album": "7"], [:]])
            #expect(after.map(\.priority) == [1, 0, 0])
            #expect(after.map(\.bytes) == held)
            #expect(after.map(\.total) == [Self.size, Self.size, Self.size])
            // Repeated requests, as of an app at each start, give the listed downloads.
            for name in ["a", "b", "c"] {
                let answer = try await second.ask("add", ["url": home.server.url("/" + name)])
                #expect(answer.id == name)
            }
            gate.open()
            for (index, name) in ["b", "c", "a"].enumerated() {
                try await second.ask("wait", ["id": name, "state": "completed"])
                #expect(
                    home.server.bodyBytes("/" + name) - (served["/" + name] ?? 0) == Self.size - held[index], "\(name)")
            }
            #expect(home.names == ["a", "b", "c"])
            let aside = home.state + "/catalogue.sqlite.damaged-1"
            #expect(FileManager.default.fileExists(atPath: aside) == (loss != .deleted))
            try await second.close()
            // The rebuilt catalogue is kept.
            let third = try home.app()
            #expect(try await third.list().map(\.state) == ["completed", "completed", "completed"])
            try await third.close()
        }
    }

    /// Journals were searched once, when the file was created: an interruption left an empty list permanently.
    @Test("Lost catalogue: an interrupted or refused rebuild is done at the next launch (B10)")
    func cut() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let first = shop.kept()
            let download = try await first.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            await first.shutdown()
            let state = shop.path("state/test")
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: state + "/catalogue.sqlite" + suffix)
            }
            // The state after a kill that follows the creation of the tables.
            let made = try await Catalogue.open(directory: state, downloads: shop.directory)
            #expect(made.isNew)
            try made.catalogue.database.sync { db in
                try db.execute(
                    "CREATE TRIGGER refusal BEFORE INSERT ON download BEGIN SELECT RAISE(ABORT, 'refused'); END")
            }
            await made.catalogue.close()
            let second = shop.kept()
            #expect(await shop.code { _ = try await second.downloads() } == .catalogue)
            await second.shutdown()
            let refused = try await Catalogue.open(directory: state, downloads: shop.directory)
            #expect(refused.isNew)
            try refused.catalogue.database.sync { db in try db.execute("DROP TRIGGER refusal") }
            await refused.catalogue.close()

            let gate = Gate()
            shop.server.always("/a", .hold(gate))
            let third = shop.kept()
            let found = try await third.downloads()
            #expect(found.map(\.id) == [download.id])
            #expect(found.map(\.status.bytes) == [1_000_000])
            gate.open()
            try await shop.expectAll(found, are: resource)
            try await third.clear(.completed)
            await third.shutdown()
            // Downloads that were removed since are not searched for.
            let last = shop.kept()
            #expect(try await last.downloadCount == 0)
            await last.shutdown()
        }
    }
}
