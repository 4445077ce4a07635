import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// Files that have their names, but not their lines in the manifest, because a sync was killed in between.
extension SyncTests {
    /// A set whose file `f` is the second version, while the manifest has the first one, or none.
    private static func withKilledSync(
        newBytes: Int64, hasRecord: Bool, _ body: @Sendable (Workshop) async throws -> Void
    ) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/pub/", Self.page(["f", "other"]))
            shop.server.serve("/pub/other", Resource(size: 1000, seed: 9))
            shop.server.serve("/pub/f", Resource(size: 1000, seed: 1))
            #expect(try await Self.sync(shop).fetchedCount == 2)
            let path = shop.path("ferry-manifest.jsonl")
            let manifest = try #require(FileManager.default.contents(atPath: path))
            shop.server.serve("/pub/f", Resource(size: newBytes, seed: 2))
            #expect(try await Self.sync(shop).fetchedCount == 1)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: 0)
            if hasRecord { try file.write(contentsOf: manifest) }
            try file.close()
            try await body(shop)
        }
    }

    private static func states(_ shop: Workshop) async throws -> [VerifiedFile.State] {
        let found = Collected<VerifiedFile>()
        try await DownloadManager.verify(shop.directory) { found.append($0) }
        return found.all.map(\.state)
    }

    @Test(
        "Kill before the line in the manifest: the next sync records the file, or replaces it if the source has changed",
        arguments: [1000, 2000] as [Int64], [true, false])
    func killedBeforeTheRecord(newBytes: Int64, hasRecord: Bool) async throws {
        for isChanged in [false, true] {
            try await Self.withKilledSync(newBytes: newBytes, hasRecord: hasRecord) { shop in
                let last = Resource(size: newBytes, seed: isChanged ? 3 : 2)
                shop.server.serve("/pub/f", last)
                let report = try await Self.sync(shop)
                #expect(report.isComplete && report.fetchedCount == (isChanged ? 1 : 0), "\(report)")
                shop.expect(shop.path("f"), is: last)
                #expect(try await Self.states(shop) == [.intact, .intact])
                #expect(try await Self.sync(shop).unchangedCount == 2)
            }
        }
    }

    @Test(
        "Kill before the line in the manifest: a file that is gone from the source is recorded as it is, or deleted",
        arguments: [1000, 2000] as [Int64], [true, false])
    func killedAndGone(newBytes: Int64, deletes: Bool) async throws {
        try await Self.withKilledSync(newBytes: newBytes, hasRecord: true) { shop in
            shop.server.serve("/pub/", Self.page(["other"]))
            let report = try await Self.sync(shop) { $0.deletesGone = deletes }
            #expect(report.isComplete && report.deleted == (deletes ? ["f"] : []), "\(report)")
            #expect(report.gone == (deletes ? [] : ["f"]))
            #expect(FileManager.default.fileExists(atPath: shop.path("f")) == !deletes)
            #expect(try await Self.states(shop).allSatisfy { $0 == .intact })
            #expect(try await Self.sync(shop) { $0.deletesGone = true }.gone == [])
        }
    }

    @Test(
        "Kill before the line in the manifest: a file that was written since is the user's",
        arguments: [true, false], [true, false])
    func killedAndEdited(hasRecord: Bool, isGone: Bool) async throws {
        try await Self.withKilledSync(newBytes: 1000, hasRecord: hasRecord) { shop in
            let mine = Data("mine".utf8)
            let file = try #require(FileHandle(forWritingAtPath: shop.path("f")))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: mine)
            try file.close()
            shop.server.serve("/pub/f", Resource(size: 1000, seed: 3))
            if isGone { shop.server.serve("/pub/", Self.page(["other"])) }
            let report = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(report.incomplete.map(\.path) == (isGone ? [] : ["f"]) && report.deleted == [], "\(report)")
            #expect(FileManager.default.contents(atPath: shop.path("f")) == mine)
        }
    }

    @Test("Kill before the line in the manifest: a file of the earlier URL is replaced by that of the listed one")
    func killedAndMoved() async throws {
        try await Workshop.run { shop in
            func list(_ path: String) {
                shop.server.serve("/list", Resource(text: #"{"url":"\#(shop.server.url(path))","path":"f"}"# + "\n"))
            }
            let (old, new) = (Resource(size: 1000, seed: 2), Resource(size: 1000, seed: 3))
            shop.server.serve("/old", Resource(size: 1000, seed: 1))
            shop.server.serve("/new", new)
            list("/old")
            _ = try await Self.sync(shop, "/list")
            let manifest = try #require(FileManager.default.contents(atPath: shop.path("ferry-manifest.jsonl")))
            shop.server.serve("/old", old)
            _ = try await Self.sync(shop, "/list")
            shop.expect(shop.path("f"), is: old)
            let file = try #require(FileHandle(forWritingAtPath: shop.path("ferry-manifest.jsonl")))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: manifest)
            try file.close()
            list("/new")
            let report = try await Self.sync(shop, "/list")
            #expect(report.isComplete && report.fetchedCount == 1, "\(report)")
            shop.expect(shop.path("f"), is: new)
        }
    }

    @Test("Kill while files are fetched: with deletion, part files of unlisted ones are removed, and no others")
    func killedParts() async throws {
        try await Workshop.run { shop in
            let names = ["listed", "gone", "mine"]
            for name in names { shop.server.serve("/pub/" + name, Resource(size: 4 << 20, seed: 1)) }
            for name in names {
                try await shop.interrupt("/pub/" + name, after: 2 << 20) {
                    $0.destination = .file(shop.path(name))
                    if name != "mine" { $0.root = shop.directory }
                }
            }
            // A crash before the first journal leaves a part file that its mode identifies.
            for (name, mode) in [("early.part", 0o1600), ("song.part", 0o600)] as [(String, mode_t)] {
                try shop.write("x", to: name)
                #expect(chmod(shop.path(name), mode) == 0)
            }
            let before = shop.names
            #expect(before.contains("gone.part.ferry") && before.contains("mine.part"), "\(before)")
            shop.server.serve("/pub/", Self.page(["listed", "sub/"]))
            shop.server.serve("/pub/listed", Resource(size: 4 << 20, seed: 1))
            shop.server.always("/pub/sub/", .status(404))
            #expect(try await !Self.sync(shop) { $0.deletesGone = true }.isComplete)
            #expect(shop.names.contains("gone.part"), "an incomplete list does not show what is gone")
            shop.server.serve("/pub/sub/", Self.page([]))
            shop.server.always("/pub/sub/", .honest)
            #expect(try await Self.sync(shop).isComplete)
            #expect(shop.names.contains("gone.part"), "received bytes are deleted on request alone")
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { found.append($0) }
            let extras = found.all.filter { $0.state == .extra }.map(\.path)
            #expect(extras == ["early.part", "gone.part", "mine.part"].map(shop.path), "\(found.all)")
            let report = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(report.isComplete, "\(report)")
            #expect(
                shop.names == [
                    ".listed.ferry-digests", "ferry-manifest.jsonl", "listed", "mine.part", "mine.part.ferry",
                    "song.part",
                    "sub",
                ])
        }
    }
}
