import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Sets that keep what they replace", .timeLimit(.minutes(30)))
struct SetBackupTests {
    private static func serve(_ shop: Workshop, _ files: [String: UInt64]) {
        for (name, seed) in files { shop.server.serve("/pub/" + name, Resource(size: 1000, seed: seed)) }
        shop.server.serve("/pub/", SyncTests.page(files.keys.sorted()))
    }

    private static func bytes(_ seed: UInt64) -> Data { Data(Resource(size: 1000, seed: seed).bytes(0..<1000)) }

    private static func content(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    /// The files below a directory, sorted.
    private static func names(_ directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: directory + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    @Test("Sync: files that are replaced or deleted are kept at their paths, again in place of those kept before")
    func keeps() async throws {
        try await Workshop.run { shop in
            let backup = shop.directory + "-old"
            defer { try? FileManager.default.removeItem(atPath: backup) }
            Self.serve(shop, ["a": 1, "b": 2, "c": 3])
            let first = try await SyncTests.sync(shop) { $0.backupDirectory = backup }
            #expect(first.isComplete && first.fetchedCount == 3, "\(first)")
            // Nothing was replaced, so that nothing was made.
            #expect(!FileManager.default.fileExists(atPath: backup))

            Self.serve(shop, ["a": 11, "c": 3])
            let second = try await SyncTests.sync(shop) { ($0.backupDirectory, $0.deletesGone) = (backup, true) }
            #expect(second.isComplete && second.fetchedCount == 1 && second.deleted == ["b"], "\(second)")
            #expect(Self.content(shop.path("a")) == Self.bytes(11) && Self.content(shop.path("b")) == nil)
            #expect(try Self.names(backup) == ["a", "b"])
            #expect(Self.content(backup + "/a") == Self.bytes(1) && Self.content(backup + "/b") == Self.bytes(2))

            Self.serve(shop, ["a": 12, "c": 3])
            let third = try await SyncTests.sync(shop) { ($0.backupDirectory, $0.deletesGone) = (backup, true) }
            #expect(third.isComplete && third.fetchedCount == 1 && third.deleted == [], "\(third)")
            #expect(Self.content(backup + "/a") == Self.bytes(11) && Self.content(backup + "/b") == Self.bytes(2))
            try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
        }
    }

    @Test("Sync: a file that is not of the set is kept when it is replaced")
    func others() async throws {
        try await Workshop.run { shop in
            let backup = shop.directory + "-old"
            defer { try? FileManager.default.removeItem(atPath: backup) }
            Self.serve(shop, ["a": 1, "b": 2])
            try Data("mine".utf8).write(to: URL(filePath: shop.path("a")))
            let report = try await SyncTests.sync(shop) { ($0.backupDirectory, $0.replacesOthers) = (backup, true) }
            #expect(report.isComplete, "\(report)")
            #expect(Self.content(shop.path("a")) == Self.bytes(1) && Self.content(shop.path("b")) == Self.bytes(2))
            #expect(Self.content(backup + "/a") == Data("mine".utf8))
            #expect(try Self.names(backup) == ["a"])
        }
    }

    @Test("Sync: kept files may lie inside the directory of the set if they are excluded from it, and stay there")
    func inside() async throws {
        try await Workshop.run { shop in
            // The source has a file with the path of a kept one.
            Self.serve(shop, ["a": 1, "b": 2, "old/": 0])
            shop.server.serve("/pub/old/", SyncTests.page(["a"]))
            shop.server.serve("/pub/old/a", Resource(size: 1000, seed: 5))
            func sync() async throws -> SyncReport {
                try await SyncTests.sync(shop) {
                    ($0.backupDirectory, $0.deletesGone) = (shop.path("old"), true)
                    $0.filter = SetFilter(exclude: ["/old/"])
                }
            }
            #expect(try await sync().fetchedCount == 2)
            Self.serve(shop, ["a": 11, "old/": 0])
            #expect(try await sync().deleted == ["b"])
            let third = try await sync()
            #expect(third.isComplete && third.deleted == [] && third.unchangedCount == 1, "\(third)")
            #expect(Self.content(shop.path("old/a")) == Self.bytes(1))
            #expect(Self.content(shop.path("old/b")) == Self.bytes(2))
        }
    }

    @Test("Sync: a directory for kept files in which they could be files of the set is refused, also through a link")
    func refused() async throws {
        try await Workshop.run { shop in
            Self.serve(shop, ["a": 1])
            let above = Paths.parent(of: shop.directory)
            let link = shop.directory + "-link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: shop.directory)
            defer { try? FileManager.default.removeItem(atPath: link) }
            let cases: [(String, ErrorPhrase.Key)] = [
                (shop.directory, .backupAroundSet), (above, .backupAroundSet), (link, .backupAroundSet),
                (shop.path("old"), .backupInSet), (link + "/sub/old", .backupInSet),
                (shop.path("x/../old"), .backupInSet),
            ]
            for (backup, key) in cases {
                let error = await #expect(throws: DownloadError.self, "\(backup)") {
                    try await SyncTests.sync(shop) { $0.backupDirectory = backup }
                }
                #expect(error?.phrase?.key == key, "\(backup)")
                let manager = shop.manager()
                var options = SyncOptions()
                options.backupDirectory = backup
                await #expect(throws: DownloadError.self, "\(backup)") {
                    try await manager.previewSync(
                        .url(try DownloadURL(shop.server.url("/pub/"))), into: shop.directory, options: options)
                }
                await manager.shutdown()
            }
            #expect(try Self.names(shop.directory) == [] && shop.server.requests.isEmpty)
        }
    }

    @Test("Sync: a file that cannot be kept is neither replaced nor deleted, and the run says so")
    func unkept() async throws {
        try await Workshop.run { shop in
            let backup = shop.directory + "-old"
            defer { try? FileManager.default.removeItem(atPath: backup) }
            Self.serve(shop, ["a": 1, "b": 2])
            _ = try await SyncTests.sync(shop)
            // No link is followed below the directory.
            let outside = shop.directory + "-outside"
            try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: outside) }
            for name in ["a", "b"] {
                try FileManager.default.createSymbolicLink(atPath: backup + "/" + name, withDestinationPath: outside)
            }
            Self.serve(shop, ["a": 11])
            let report = try await SyncTests.sync(shop) { ($0.backupDirectory, $0.deletesGone) = (backup, true) }
            #expect(report.incomplete.map(\.path) == ["a"] && report.gone == ["b"] && report.deleted == [], "\(report)")
            #expect(report.problems.count == 1 && report.error("a")?.code == .conflict, "\(report)")
            #expect(Self.content(shop.path("a")) == Self.bytes(1) && Self.content(shop.path("b")) == Self.bytes(2))
            #expect(!FileManager.default.fileExists(atPath: outside))
            // Out of the way, what was received is published.
            try FileManager.default.removeItem(atPath: backup)
            let again = try await SyncTests.sync(shop) { ($0.backupDirectory, $0.deletesGone) = (backup, true) }
            #expect(again.isComplete && again.deleted == ["b"], "\(again)")
            #expect(Self.content(backup + "/a") == Self.bytes(1) && Self.content(shop.path("a")) == Self.bytes(11))
        }
    }
}
