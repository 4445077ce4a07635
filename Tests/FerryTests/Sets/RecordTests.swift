import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

/// Records that others have made, or that a server has sent as files.
@Suite("Records", .timeLimit(.minutes(30)))
struct RecordTests {
    private static let bob: uid_t = 4321
    private static let good = "#!/bin/sh\necho good\n"
    private static let evil = "#!/bin/sh\necho evil\n"

    private static func verify(_ path: String) async throws -> VerifiedFile {
        let found = Collected<VerifiedFile>()
        try await DownloadManager.verify(path) { found.append($0) }
        return try #require(found.all.first)
    }

    private static func error(repairing file: VerifiedFile) async -> DownloadError? {
        do {
            _ = try await DownloadManager.repair(file, with: DownloadRequest(sources: [], destination: .directory("")))
            return nil
        } catch { return error as? DownloadError }
    }

    /// A record of `tool.sh` that says that it should have the other server's bytes.
    private static func record(_ shop: Workshop, _ path: String = "tool.sh") -> FileRecord {
        let bytes = Array(evil.utf8)
        var record = FileRecord(path: path, urls: [shop.server.url("/evil.sh")])
        (record.totalBytes, record.proof) = (ByteCount(bytes.count), .digest)
        record.checksum = Checksum(algorithm: .sha256, bytes: ByteDigest.of(bytes, .sha256))
        return record
    }

    private static func plant(manifest records: [FileRecord], in directory: String) throws -> String {
        let path = directory + "/ferry-manifest.jsonl"
        let lines = try records.flatMap { try Manifest.line($0) } + Array("{\"files\":\(records.count)}\n".utf8)
        try Data(lines).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func tool(_ shop: Workshop) async throws -> String {
        shop.server.serve("/tool.sh", Resource(text: good))
        shop.server.serve("/evil.sh", Resource(text: evil))
        return try await shop.get("/tool.sh", { _ in }) { $0.recordsDigests = true }.file.path
    }

    @Test(
        "Record: a file that a server names as one of Ferry's records gets a harmless name, and nothing believes it",
        arguments: [
            "ferry-manifest.jsonl", "FERRY-Manifest.JSONL", ".tool.sh.ferry-digests", "tool.sh.aria2",
            "ferry-manifest.jsonl. ",
        ])
    func serverName(name: String) async throws {
        try await Workshop.run { shop in
            let path = try await Self.tool(shop)
            let line = String(decoding: try Manifest.line(Self.record(shop)), as: UTF8.self)
            var manifest = Resource(text: line)
            manifest.contentDisposition = "attachment; filename=\"\(name)\""
            shop.server.serve("/x", manifest)
            let file = try await shop.get("/x", { _ in }) { $0.destination = .directory(shop.directory) }.file
            #expect(ReservedName(Paths.name(of: file.path)) == nil, "\(file.path)")
            #expect(try await Self.verify(path).state == .intact)
            #expect(shop.names.allSatisfy { ReservedName.record($0) == nil }, "\(shop.names)")
        }
    }

    @Test("Record: the digest that a file keeps itself outranks a manifest above it")
    func attribute() async throws {
        try await Workshop.run { shop in
            let path = try await Self.tool(shop)
            _ = try Self.plant(manifest: [Self.record(shop)], in: shop.directory)
            let found = try await Self.verify(path)
            #expect(found.state == .intact && found.recordedIn == path)
            // The directory is named, so its manifest counts.
            #expect(try await Self.verify(shop.directory).recordedIn == shop.directory + "/ferry-manifest.jsonl")
        }
    }

    @Test(
        "Record: a manifest above a file counts in directories of this user alone, and not beyond one that others write to"
    )
    func above() async throws {
        try await Workshop.run { shop in
            let place = shop.directory + "/sub"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: place + "/a"))
            _ = try Self.plant(manifest: [Self.record(shop, "sub/a")], in: shop.directory)
            let file = try await Self.verify(place + "/a")
            #expect(file.state != .unknown && file.recordedIn == shop.directory + "/ferry-manifest.jsonl")
            for (path, mode) in [(shop.directory, 0o1777), (place, 0o777)] {
                #expect(chmod(path, mode_t(mode)) == 0)
                #expect(try await Self.verify(place + "/a").state == .unknown)
                #expect(chmod(path, 0o755) == 0)
            }
        }
    }

    @Test(
        "Record: another user's is read, and nothing is written by it", .enabled(if: geteuid() == 0),
        arguments: [true, false])
    func ofAnother(isBeside: Bool) async throws {
        try await Workshop.run { shop in
            let path = shop.path("tool.sh")
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            let record: String
            if isBeside {
                try DigestFile.write(Self.record(shop), of: FilePath(path), fileSystem: LocalFileSystem())
                record = shop.path(".tool.sh.ferry-digests")
            } else {
                record = try Self.plant(manifest: [Self.record(shop)], in: shop.directory)
            }
            #expect(chown(record, Self.bob, Self.bob) == 0)
            let file = try await Self.verify(isBeside ? path : shop.directory)
            #expect(file.recordedBy == Self.bob && file.recordedIn == record && !file.isIntact)
            let error = await Self.error(repairing: file)
            #expect(
                error?.code == .notResumable && error?.message.contains(record) == true, "\(String(describing: error))")
            if !isBeside { #expect(try await Self.verify(path).state == .unknown) }
            // The bytes that are this user's own record stand against another's.
            try FileManager.default.removeItem(atPath: path)
            let own = try await Self.tool(shop)
            #expect(try await Self.verify(own).state == .intact)
        }
    }

    @Test("Record: a manifest that was downloaded is none, for verification and for a sync, which deletes nothing")
    func downloaded() async throws {
        try await Workshop.run { shop in
            let line = String(decoding: try Manifest.line(Self.record(shop)), as: UTF8.self)
            shop.server.serve("/m", Resource(text: line + "{\"files\":1}\n"))
            let file = try await shop.get("/m").file
            try FileManager.default.moveItem(atPath: file.path, toPath: shop.path("ferry-manifest.jsonl"))
            try Data("mine".utf8).write(to: URL(fileURLWithPath: shop.path("tool.sh")))
            #expect(try await Self.verify(shop.path("tool.sh")).state == .unknown)
            let named = try await Self.verify(shop.directory)
            #expect(await Self.error(repairing: named)?.message.contains("was downloaded") == true)
            SyncTests.serveTree(shop)
            let error = await #expect(throws: DownloadError.self) {
                try await SyncTests.sync(shop) { $0.deletesGone = true }
            }
            #expect(error?.code == .conflict && shop.names == ["ferry-manifest.jsonl", "tool.sh"])
        }
    }

    @Test(
        "Sync: a manifest that gives size and date of the user's file, but not its bytes, does not have it deleted or replaced"
    )
    func planted() async throws {
        try await Workshop.run { shop in
            SyncTests.serveTree(shop)
            let path = try await Self.tool(shop)
            shop.server.serve("/mine/a.bin", Resource(text: Self.good))
            let mine = try await shop.get("/mine/a.bin", { _ in }) { $0.recordsDigests = true }.file.path
            try Data(Self.good.utf8).write(to: URL(fileURLWithPath: shop.path("own.txt")))
            var records: [FileRecord] = []
            for name in ["tool.sh", "a.bin", "own.txt"] {
                var record = Self.record(shop, name)
                let status = try LocalFileSystem().status(FilePath(shop.path(name)), followingLinks: false)
                (record.totalBytes, record.modified) = (status.length, status.modified.text)
                record.urls = [shop.server.url("/pub/" + name)]
                records.append(record)
            }
            _ = try Self.plant(manifest: records, in: shop.directory)
            let report = try await SyncTests.sync(shop) { $0.deletesGone = true }
            #expect(report.deleted == [] && report.gone.sorted() == ["own.txt", "tool.sh"], "\(report)")
            #expect(report.incomplete.map(\.path) == ["a.bin"] && report.error("a.bin")?.code == .conflict, "\(report)")
            for path in [path, mine, shop.path("own.txt")] {
                #expect(FileManager.default.contents(atPath: path) == Data(Self.good.utf8), "\(path)")
            }
        }
    }

    @Test("Sync: files whose listed names mean something to Ferry are stored under others, which the report tells")
    func renamed() async throws {
        try await Workshop.run { shop in
            let names = ["ferry-manifest.jsonl", "a.aria2", "b.part.ferry"]
            shop.server.serve("/pub/", SyncTests.page(["sub/"]))
            shop.server.serve("/pub/sub/", SyncTests.page(names))
            for name in names { shop.server.serve("/pub/sub/" + name, Resource(text: "of the server")) }
            let report = try await SyncTests.sync(shop)
            #expect(report.isComplete && report.fetchedCount == 3, "\(report)")
            #expect(report.renamed == names.sorted().map { RenamedFile(path: "sub/\($0)_", listedPath: "sub/\($0)") })
            let content = try Manifest.content(of: FilePath(shop.directory), fileSystem: LocalFileSystem())
            #expect(content?.records.map(\.listedPath) == names.map { "sub/\($0)" })
        }
    }

    /// They were left out without a message.
    @Test(
        "Index page: files with a slash in their names, and with names like Ferry's, are stored under others and told")
    func likeOurs() async throws {
        try await Workshop.run { shop in
            let paths =
                [
                    ("i%2Fj", "i%2Fj", "i_j"), ("k%5Cl", "k\\l", "k_l"), ("s%2Fx/g", "s%2Fx/g", "s_x/g"),
                    ("x.ferry-digests", nil, "x.ferry-digests_"), (".ferry-digests", nil, "_ferry-digests"),
                    (".y.FERRY-DIGESTS", nil, ".y.FERRY-DIGESTS_"), (".y.ferry-digests/f", nil, ".y.ferry-digests_/f"),
                    ("FERRY-MANIFEST.JSONL.", nil, "FERRY-MANIFEST.JSONL._"),
                    ("d/ferry-manifest.jsonl", nil, "d/ferry-manifest.jsonl_"),
                    ("ferry-manifest.jsonl/f", nil, "ferry-manifest.jsonl_/f"),
                ] as [(link: String, listed: String?, path: String)]
            var names: [String] = []
            for (link, _, _) in paths {
                shop.server.serve("/pub/" + link, Resource(text: link))
                guard let slash = link.firstIndex(of: "/") else {
                    names.append(link)
                    continue
                }
                names.append(String(link[...slash]))
                shop.server.serve("/pub/" + link[...slash], SyncTests.page([String(link[slash...].dropFirst())]))
            }
            shop.server.serve("/pub/", SyncTests.page(names + [".a.ferry-digests", "ferry-manifest.jsonl"]))
            let report = try await SyncTests.sync(shop)
            #expect(report.isComplete && report.fetchedCount == paths.count, "\(report)")
            #expect(
                Set(report.renamed) == Set(paths.map { RenamedFile(path: $0.path, listedPath: $0.listed ?? $0.link) }))
            for (link, _, path) in paths {
                #expect(FileManager.default.contents(atPath: shop.path(path)) == Data(link.utf8), "\(path)")
            }
        }
    }

    @Test("Sync: names stay as the source has them, as those of a Zarr store; with safe names all are changed and told")
    func namesOfSource() async throws {
        try await Workshop.run { shop in
            let store = [
                ".zgroup", ".zattrs", "t:0/.zarray", "t:0/0.0", "t:0/-1?.1", "a|b*<c>", "con.txt", "end.", " lead",
            ]
            let long = String(repeating: "n", count: 255)
            let files = store + [long]
            func encoded(_ path: String) -> String {
                path.split(separator: "/").map { PercentEncoding.encodeAll(String($0)) }.joined(separator: "/")
            }
            shop.server.serve(
                "/pub/", SyncTests.page(files.filter { !$0.contains("/") }.map(encoded) + [encoded("t:0") + "/"]))
            shop.server.serve(
                "/pub/" + encoded("t:0") + "/",
                SyncTests.page(files.filter { $0.hasPrefix("t:0/") }.map { encoded(String($0.dropFirst(4))) }))
            for (seed, path) in files.enumerated() {
                shop.server.serve(
                    "/pub/" + encoded(path), Resource(size: seed == 3 ? 1_500_000 : 100, seed: UInt64(seed)))
            }
            let report = try await SyncTests.sync(shop)
            #expect(report.isComplete && report.renamed.isEmpty && report.fetchedCount == files.count, "\(report)")
            for (seed, path) in files.enumerated() {
                let file = Resource(size: seed == 3 ? 1_500_000 : 100, seed: UInt64(seed))
                #expect(
                    FileManager.default.contents(atPath: shop.path(path)) == Data(file.bytes(0..<file.size)), "\(path)")
            }
            let again = try await SyncTests.sync(shop)
            #expect(again.unchangedCount == files.count && again.isComplete, "\(again)")
            let verified = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { verified.append($0) }
            #expect(verified.all.count == files.count && verified.all.allSatisfy(\.isIntact))

            let manager = shop.manager()
            var options = SyncOptions()
            options.safeNames = true
            let safe = try await manager.sync(
                .url(try DownloadURL(shop.server.url("/pub/"))), into: shop.path("safe"), options: options)
            await manager.shutdown()
            #expect(safe.isComplete, "\(safe)")
            for (path, listed) in [("_zattrs", ".zattrs"), ("t_0/_zarray", "t:0/.zarray")] {
                #expect(safe.renamed.contains(RenamedFile(path: path, listedPath: listed)))
            }
            #expect(safe.renamed.count == files.count, "\(safe.renamed)")
        }
    }

    @Test("Manifest: the line of a record with more mirrors and text than is read back leaves them out")
    func longLine() async throws {
        try await Workshop.run { shop in
            var record = Self.record(shop)
            record.urls = (0..<100).map { "http://h/\($0)/" + String(repeating: "x", count: 60_000) }
            record.problem = String(repeating: "p", count: 3 << 20)
            let path = try Self.plant(manifest: [record], in: shop.directory)
            let content = try #require(
                try Manifest.content(of: FilePath(shop.directory), fileSystem: LocalFileSystem()))
            #expect(content.problem == nil && content.records.map(\.path) == ["tool.sh"], "\(path)")
            #expect(
                content.records.first?.checksum == record.checksum
                    && content.records.first?.urls.first == record.urls[0])
        }
    }
}
