import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Directories that are synced into a bucket", .timeLimit(.minutes(30)))
struct DirectorySyncTests {
    private static let manifest = "target/set/ferry-manifest.jsonl"

    private static func place(_ shop: Workshop) throws -> SyncDestination {
        .objects(try DownloadURL("s3://target/set/"), staging: shop.path("staging"))
    }

    private static func manager(
        _ shop: Workshop, _ bucket: BucketTransport, _ clock: any EngineClock = SystemClock()
    ) -> DownloadManager {
        shop.manager(engine: shop.engine(clock: clock, transport: bucket)) { $0.maxRetries = 0 }
    }

    private static func sync(
        _ shop: Workshop, _ bucket: BucketTransport, into destination: SyncDestination? = nil,
        by clock: any EngineClock = SystemClock(), _ change: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncReport {
        let manager = manager(shop, bucket, clock)
        var options = SyncOptions()
        change(&options)
        do {
            let report = try await manager.sync(
                .directory(shop.path("from")), into: try destination ?? place(shop), options: options)
            await manager.shutdown()
            return report
        } catch {
            await manager.shutdown()
            throw error
        }
    }

    /// Writes a file of the source with a date long ago.
    @discardableResult
    private static func write(
        _ shop: Workshop, _ path: String, _ bytes: [UInt8], at seconds: Double = 1_700_000_000.25
    ) throws -> [UInt8] {
        let whole = shop.path("from/" + path)
        try FileManager.default.createDirectory(
            atPath: (whole as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: whole))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: whole)
        return bytes
    }

    private static func bytes(_ seed: UInt64, _ count: Int64 = 1000) -> [UInt8] {
        Array(Resource(size: count, seed: seed).bytes(0..<count))
    }

    private static func append(_ shop: Workshop, _ path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: shop.path("from/" + path)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1]))
        try handle.close()
    }

    private static func records(_ bucket: BucketTransport) throws -> [FileRecord] {
        let lines = String(decoding: try #require(bucket[manifest]), as: UTF8.self).split(separator: "\n")
        #expect(lines.last == "{\"files\":\(lines.count - 1)}")
        return try lines.dropLast().map { try JSONDecoder().decode(FileRecord.self, from: Data($0.utf8)) }
    }

    private static func staged(_ shop: Workshop) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: shop.path("staging"))
    }

    @Test(
        "Directory: new and changed files are stored, unchanged ones are not read, and those that are gone are deleted"
    )
    func update() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for (path, seed) in [("a.bin", UInt64(1)), ("d/e/b.bin", 2), ("d/c", 3)] {
                try Self.write(shop, path, Self.bytes(seed))
            }
            try Self.write(shop, "empty", [])
            let first = try await Self.sync(shop, bucket)
            #expect(first.isComplete && first.fetchedCount == 4 && first.storedBytes == 3000, "\(first)")
            #expect(bucket["target/set/d/e/b.bin"] == Self.bytes(2) && bucket["target/set/empty"] == [])
            let records = try Self.records(bucket)
            #expect(records.map(\.path) == ["a.bin", "empty", "d/c", "d/e/b.bin"])
            #expect(records[0].checksum?.bytes == ByteDigest.of(Self.bytes(1), .sha256))
            #expect(records[0].storedETag == bucket.object("target/set/a.bin")?.etag && records[0].urls == [])
            #expect(records[0].modified == "1700000000.250000000" && records[0].totalBytes == 1000)
            #expect(try Self.staged(shop) == [])
            _ = bucket.takeAsked()

            // Nobody may read it: it is not opened.
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: shop.path("from/a.bin"))
            let second = try await Self.sync(shop, bucket)
            #expect(second.isComplete && second.unchangedCount == 4 && bucket.takeAsked() == [], "\(second)")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: shop.path("from/a.bin"))

            // Another size; another date with other bytes; another date alone; gone.
            let old = try #require(bucket.object("target/set/a.bin")?.etag)
            try Self.write(shop, "a.bin", Self.bytes(9, 1001))
            try Self.write(shop, "d/c", Self.bytes(8), at: 1_700_000_001)
            try Self.write(shop, "empty", [], at: 1_700_000_001)
            try FileManager.default.removeItem(atPath: shop.path("from/d/e"))
            let third = try await Self.sync(shop, bucket)
            #expect(third.isComplete && third.fetchedCount == 2 && third.unchangedCount == 1, "\(third)")
            #expect(third.gone == ["d/e/b.bin"])
            #expect(bucket.asked.first { $0.key == "target/set/a.bin" }?.ifMatch == old)
            #expect(bucket.takeAsked() == ["PUT target/set/a.bin", "PUT target/set/d/c"])
            #expect(bucket["target/set/d/c"] == Self.bytes(8))
            #expect(try Self.records(bucket).first { $0.path == "empty" }?.modified == "1700000001.000000000")
            #expect(try await Self.sync(shop, bucket).unchangedCount == 3 && bucket.takeAsked() == [])

            let fourth = try await Self.sync(shop, bucket) { $0.deletesGone = true }
            #expect(fourth.isComplete && fourth.deleted == ["d/e/b.bin"], "\(fourth)")
            #expect(
                bucket.keys == ["target/set/a.bin", "target/set/d/c", "target/set/empty", Self.manifest].sorted())
        }
    }

    @Test(
        "Directory: a file that was just written is compared by the next run, as it may be written again under the same date"
    )
    func young() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let clock = DatedClock(seconds: 1_700_000_000)
            // The resolution of the coarsest file systems is two seconds; a clock may go wrong, too.
            let young = [1_700_000_100, 1_700_000_000, 1_699_999_998.25]
            for (number, seconds) in young.enumerated() {
                try Self.write(shop, "young\(number)", Self.bytes(1), at: seconds)
            }
            try Self.write(shop, "old", Self.bytes(1), at: 1_699_999_998)
            #expect(try await Self.sync(shop, bucket, by: clock).fetchedCount == 4)
            #expect(try Self.records(bucket).map(\.modified) == ["1699999998.000000000", nil, nil, nil])
            for (number, seconds) in young.enumerated() {
                try Self.write(shop, "young\(number)", Self.bytes(2), at: seconds)
            }
            #expect(try await Self.sync(shop, bucket, by: clock).fetchedCount == 3)
            #expect(bucket["target/set/young0"] == Self.bytes(2) && bucket["target/set/young2"] == Self.bytes(2))
            // Compared again, and the same; later their times are recorded.
            #expect(try await Self.sync(shop, bucket, by: clock).unchangedCount == 4)
            #expect(try Self.records(bucket).compactMap(\.modified).count == 1)
            #expect(try await Self.sync(shop, bucket, by: DatedClock(seconds: 1_700_000_102)).unchangedCount == 4)
            #expect(try Self.records(bucket).compactMap(\.modified).count == 4)
        }
    }

    /// The system's clock on another date.
    private struct DatedClock: EngineClock {
        /// Since 1970.
        let seconds: Double
        private let system = SystemClock()

        init(seconds: Double) { self.seconds = seconds }

        func now() -> Duration { system.now() }
        func date() -> Date { Date(timeIntervalSince1970: seconds) }
        func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
    }

    @Test("Directory: the parts of a file that others have stored in the meantime do not stay in the store")
    func storedMeanwhile() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let large = try Self.write(shop, "large", Self.bytes(1, 9 << 20))
            bucket.before { asked, bucket in
                guard asked.method == "POST", asked.upload == "" else { return }
                bucket.put("target/set/large", parts: [Array(large[..<(8 << 20)]), Array(large[(8 << 20)...])])
            }
            let report = try await Self.sync(shop, bucket)
            #expect(report.isComplete && bucket["target/set/large"] == large && bucket.openUploads == [], "\(report)")
        }
    }

    @Test("Directory: an upload that the store does not end is noted, also if others have stored the same file")
    func unendedStoredMeanwhile() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let large = try Self.write(shop, "large", Self.bytes(1, 9 << 20))
            bucket.before { asked, bucket in
                guard asked.method == "POST", asked.upload == "" else { return }
                bucket.put("target/set/large", parts: [Array(large[..<(8 << 20)]), Array(large[(8 << 20)...])])
            }
            bucket.isAbortRefused = true
            let report = try await Self.sync(shop, bucket)
            bucket.before(nil)
            #expect(report.isComplete && bucket.openUploads == ["target/set/large"], "\(report)")
            #expect(try Self.records(bucket).allSatisfy { $0.uploadID == nil })
            bucket.isAbortRefused = false
            #expect(try await Self.sync(shop, bucket).unchangedCount == 1)
            #expect(bucket.openUploads == [] && bucket["target/set/large"] == large)
            #expect(try Self.staged(shop) == [])
        }
    }

    @Test(
        "Directory: a large file is stored in parts, and an upload that broke off goes on with the parts that are missing"
    )
    func parts() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let large = try Self.write(shop, "large", Self.bytes(1, 20 << 20))
            bucket.after { asked, _ throws(TransferFailure) in
                guard asked.upload == "3" else { return }
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400"))
            }
            let first = try await Self.sync(shop, bucket)
            bucket.after(nil)
            #expect(first.incomplete.map(\.path) == ["large"] && bucket.openUploads == ["target/set/large"], "\(first)")
            #expect(bucket["target/set/large"] == nil)
            #expect(bucket.takeAsked().contains("POST target/set/large?uploads"))
            let second = try await Self.sync(shop, bucket)
            #expect(second.isComplete && second.fetchedCount == 1, "\(second)")
            let asked = bucket.takeAsked()
            #expect(!asked.contains("POST target/set/large?uploads") && !asked.contains("PUT target/set/large?3"))
            #expect(bucket.openUploads == [] && bucket["target/set/large"] == large)
            let record = try #require(try Self.records(bucket).first)
            #expect(record.checksum?.bytes == ByteDigest.of(large, .sha256) && record.uploadID == nil)
            #expect(record.storedETag == bucket.object("target/set/large")?.etag)
            #expect(try Self.staged(shop) == [])
            #expect(try await Self.sync(shop, bucket).unchangedCount == 1 && bucket.takeAsked() == [])
        }
    }

    @Test("Directory: an upload that was begun is ended when its file is gone, small, or stored by others")
    func abandoned() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in ["gone", "small", "other"] { try Self.write(shop, name, Self.bytes(1, 9 << 20)) }
            bucket.after { asked, _ throws(TransferFailure) in
                guard asked.upload == "2" else { return }
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400"))
            }
            #expect(try await Self.sync(shop, bucket).incomplete.count == 3)
            bucket.after(nil)
            #expect(bucket.openUploads.count == 3)
            try FileManager.default.removeItem(atPath: shop.path("from/gone"))
            try Self.write(shop, "small", [1])
            bucket["target/set/other"] = [7]
            let second = try await Self.sync(shop, bucket)
            #expect(second.incomplete.map(\.path) == ["other"] && second.fetchedCount == 1, "\(second)")
            #expect(bucket.openUploads == [] && bucket["target/set/other"] == [7])
        }
    }

    @Test("Directory: an upload that the store does not end is noted until it does")
    func unended() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in ["gone", "small"] { try Self.write(shop, name, Self.bytes(1, 9 << 20)) }
            bucket.after { asked, _ throws(TransferFailure) in
                guard asked.upload == "2" else { return }
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400"))
            }
            #expect(try await Self.sync(shop, bucket).incomplete.count == 2)
            bucket.after(nil)
            try FileManager.default.removeItem(atPath: shop.path("from/gone"))
            try Self.write(shop, "small", [1])
            bucket.isAbortRefused = true
            let second = try await Self.sync(shop, bucket)
            #expect(second.isComplete && bucket["target/set/small"] == [1], "\(second)")
            #expect(bucket.openUploads.count == 2)
            #expect(try Self.staged(shop) != [])
            #expect(try Self.records(bucket).allSatisfy { $0.uploadID == nil })
            bucket.isAbortRefused = false
            #expect(try await Self.sync(shop, bucket).unchangedCount == 1)
            #expect(bucket.openUploads == [])
            #expect(try Self.staged(shop) == [])
        }
    }

    @Test(
        "Directory: of a file that is written while it is read no object is made; it is read again, and then reported"
    )
    func changing() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            try Self.write(shop, "once", Self.bytes(1, 9 << 20))
            bucket.before { asked, bucket in
                guard asked.upload == "2" else { return }
                bucket.before(nil)
                try? Self.append(shop, "once")
            }
            let first = try await Self.sync(shop, bucket)
            #expect(first.isComplete && bucket["target/set/once"] == Self.bytes(1, 9 << 20) + [1], "\(first)")
            #expect(bucket.takeAsked().count { $0.hasSuffix("?uploads") } == 1)

            try Self.write(shop, "always", Self.bytes(2, 9 << 20))
            bucket.before { asked, _ in if asked.upload == "2" { try? Self.append(shop, "always") } }
            let second = try await Self.sync(shop, bucket)
            bucket.before(nil)
            #expect(second.incomplete.map(\.path) == ["always"] && bucket["target/set/always"] == nil, "\(second)")
            #expect(second.error("always")?.phrase?.key == .sourceChanged)
            let bytes = try Data(contentsOf: URL(filePath: shop.path("from/always")))
            #expect(try await Self.sync(shop, bucket).isComplete && bucket["target/set/always"] == Array(bytes))
            #expect(bucket.openUploads == [])
        }
    }

    @Test(
        "Directory: links are not followed, and links, pipes and names that are no keys are told; names stay as they are"
    )
    func names() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let plain = [
                ".hidden", "a\\b", "d:e?", "list.old", "movie.part", "x.aria2", "x.aria2.old", "-r", ".ferry-a",
                ".incoming-a", "sub/ü%",
            ]
            for name in plain { try Self.write(shop, name, Self.bytes(1)) }
            _ = try await Self.sync(shop, bucket)
            #expect(bucket.keys == (plain.map { "target/set/" + $0 } + [Self.manifest]).sorted())
            #expect(try await Self.sync(shop, bucket).unchangedCount == plain.count)

            try Data([5]).write(to: URL(filePath: shop.path("secret")))
            let from = shop.path("from")
            try FileManager.default.removeItem(atPath: from + "/sub")
            for (name, target) in [("sub", ".."), ("link", "../secret"), ("dangling", "none")] {
                try FileManager.default.createSymbolicLink(atPath: "\(from)/\(name)", withDestinationPath: target)
            }
            #expect(mkfifo(from + "/pipe", 0o600) == 0)
            let report = try await Self.sync(shop, bucket) { $0.deletesGone = true }
            #expect(
                report.skipped.map(\.path) == ["dangling", "link", "pipe", "sub"]
                    && report.skipped.map(\.kind) == [.symbolicLink, .symbolicLink, .special, .symbolicLink])
            // What is behind the link is not known to be gone.
            #expect(report.isComplete && report.gone == ["sub/ü%"] && report.deleted == [], "\(report)")
            #expect(!bucket.keys.contains { $0.contains("secret") || $0.contains("link") })
            // Neither is it if the filter leaves out the link and not what was below it.
            let filtered = try await Self.sync(shop, bucket) {
                $0.filter = SetFilter(exclude: ["sub", "link"])
                $0.deletesGone = true
            }
            #expect(filtered.skipped.map(\.path) == ["dangling", "pipe"] && filtered.deleted == [], "\(filtered)")
            #expect(filtered.gone == ["sub/ü%"] && bucket["target/set/sub/ü%"] != nil)

            try Self.write(shop, "line\nfeed", [1])
            let problem = try await Self.sync(shop, bucket)
            #expect(problem.problems.count == 1 && !problem.isComplete && problem.incomplete.isEmpty, "\(problem)")
        }
    }

    #if os(Linux)
        @Test("Directory: names that are not UTF-8 are told, and the other files are stored")
        func notUTF8() async throws {
            try await Workshop.run { shop in
                let bucket = BucketTransport()
                try Self.write(shop, "a", [1])
                let name = (Array((shop.path("from") + "/").utf8) + [0xFF, 0x62, 0]).map { CChar(bitPattern: $0) }
                let descriptor = open(name, O_CREAT | O_WRONLY, 0o600)
                try #require(descriptor >= 0)
                close(descriptor)
                defer { unlink(name) }
                let report = try await Self.sync(shop, bucket)
                #expect(report.problems.count == 1 && report.fetchedCount == 1, "\(report)")
            }
        }
    #endif

    @Test("Directory: Ferry's own files are left out, and so is the staging directory in it")
    func ownFiles() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in [
                "a", "ferry-manifest.jsonl", "set/ferry-manifest.jsonl", ".a.ferry-digests", "b.part", "b.part.ferry",
                "b.part.old", "b.part.ferry.old", "ferry-manifest.jsonl.new", "staging/left",
            ] { try Self.write(shop, name, [1]) }
            // Ferry writes no files with these names.
            let others = ["set/.a.FERRY-digests", "dir/FERRY-MANIFEST.jsonl", "set/b.ferry-digests"]
            for name in others { try Self.write(shop, name, [1]) }
            let inside = SyncDestination.objects(
                try DownloadURL("s3://target/set/"), staging: shop.path("from/staging"))
            let report = try await Self.sync(shop, bucket, into: inside)
            let keys = ["target/set/a", Self.manifest] + others.map { "target/set/" + $0 }
            #expect(report.isComplete && Set(bucket.keys) == Set(keys), "\(bucket.keys)")
        }
    }

    @Test("Directory: objects are not deleted whose files have become Ferry's own")
    func becomesOwn() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in ["a", "a.part", "inside/b"] { try Self.write(shop, name, [1]) }
            _ = try await Self.sync(shop, bucket)
            try Self.write(shop, "a.part.ferry", [1])
            // What was noted of the first run is in another directory, and the manifest has it all.
            let inside = SyncDestination.objects(
                try DownloadURL("s3://target/set/"), staging: shop.path("from/inside"))
            let report = try await Self.sync(shop, bucket, into: inside) { $0.deletesGone = true }
            #expect(report.isComplete && report.gone == ["a.part", "inside/b"] && report.deleted == [], "\(report)")
            #expect(bucket["target/set/a.part"] == [1] && bucket["target/set/inside/b"] == [1])
        }
    }

    @Test("Directory: a path that leads elsewhere by the time it is stored is not read")
    func swapped() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for path in ["file", "d/file", "pipe", "removed"] { try Self.write(shop, path, [1]) }
            try FileManager.default.createDirectory(
                atPath: shop.path("elsewhere"), withIntermediateDirectories: true)
            try Data([5]).write(to: URL(filePath: shop.path("elsewhere/file")))
            let manager = Self.manager(shop, bucket)
            let sync = try await SetSync(
                of: .directory(shop.path("from")), into: try Self.place(shop), options: SyncOptions(),
                manager: manager)
            #expect(sync.requests.isEmpty && sync.uploads.map(\.path) == ["file", "pipe", "removed", "d/file"])
            for path in ["file", "d", "pipe", "removed"] {
                try FileManager.default.removeItem(atPath: shop.path("from/" + path))
            }
            for (path, target) in [("file", "../elsewhere/file"), ("d", "../elsewhere")] {
                try FileManager.default.createSymbolicLink(
                    atPath: shop.path("from/" + path), withDestinationPath: target)
            }
            #expect(mkfifo(shop.path("from/pipe"), 0o600) == 0)
            await sync.upload()
            let report = try await sync.finish()
            await manager.shutdown()
            #expect(report.incomplete.map(\.path) == ["d/file", "file", "pipe", "removed"], "\(report)")
            #expect(bucket.keys == [Self.manifest])
        }
    }

    @Test("Directory: an object with the bytes of the file becomes one of the set, and others are left or replaced")
    func foreign() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for (path, seed) in [("same", UInt64(1)), ("longer", 2), ("other", 3)] {
                try Self.write(shop, path, Self.bytes(seed))
            }
            bucket["target/set/same"] = Self.bytes(1)
            bucket["target/set/longer"] = Self.bytes(2, 2000)
            bucket["target/set/other"] = Self.bytes(9)
            let first = try await Self.sync(shop, bucket)
            #expect(first.unchangedCount == 1 && first.incomplete.map(\.path) == ["longer", "other"], "\(first)")
            #expect(first.error("other")?.phrase?.key == .thereAlready)
            #expect(!bucket.takeAsked().contains { $0.hasPrefix("PUT") })
            let second = try await Self.sync(shop, bucket) { $0.replacesOthers = true }
            #expect(second.isComplete && second.fetchedCount == 2 && second.unchangedCount == 1, "\(second)")
            #expect(bucket["target/set/longer"] == Self.bytes(2) && bucket["target/set/other"] == Self.bytes(3))
        }
    }

    @Test(
        "Directory: files that a run has stored are not stored again by the next one, though its end reached no bucket"
    )
    func killed() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let large = try Self.write(shop, "large", Self.bytes(1, 9 << 20))
            try Self.write(shop, "small", Self.bytes(2))
            bucket.before { asked, bucket in
                if asked.method == "PUT", asked.key.hasSuffix("jsonl") { bucket[asked.key] = [UInt8(ascii: "\n")] }
            }
            await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
            bucket.before(nil)
            bucket[Self.manifest] = nil
            _ = bucket.takeAsked()
            let noted = try await Self.sync(shop, bucket)
            #expect(noted.isComplete && noted.unchangedCount == 2 && bucket.takeAsked() == [], "\(noted)")

            // Without any note their bytes are compared.
            bucket[Self.manifest] = nil
            let compared = try await Self.sync(shop, bucket)
            #expect(compared.isComplete && compared.unchangedCount == 2, "\(compared)")
            #expect(!bucket.takeAsked().contains { $0.hasPrefix("P") })
            #expect(try Self.records(bucket).first?.checksum?.bytes == ByteDigest.of(large, .sha256))
        }
    }

    @Test("Directory: filters of names, sizes, dates and depth choose files, and what they leave out is not deleted")
    func filters() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            try Self.write(shop, "new", Self.bytes(1), at: Date().timeIntervalSince1970 - 100)
            try Self.write(shop, "old", Self.bytes(2))
            try Self.write(shop, "d/deep", Self.bytes(3, 10))
            _ = try await Self.sync(shop, bucket) { $0.filter.newerThan = .seconds(86400) }
            #expect(bucket.keys == [Self.manifest, "target/set/new"].sorted())
            _ = try await Self.sync(shop, bucket) { $0.filter.smallerThan = 1000 }
            #expect(bucket.keys == [Self.manifest, "target/set/d/deep", "target/set/new"].sorted())
            let top = try await Self.sync(shop, bucket) {
                $0.maxDepth = 0
                $0.deletesGone = true
            }
            #expect(top.listedCount == 2 && top.deleted == [] && bucket["target/set/d/deep"] != nil, "\(top)")
            let some = try await Self.sync(shop, bucket) {
                $0.filter = SetFilter(exclude: ["d/", "none*"])
                $0.deletesGone = true
            }
            #expect(some.listedCount == 2 && some.deleted == [] && some.unusedPatterns == ["none*"], "\(some)")
        }
    }

    @Test("Directory: with safe names, what is excluded or behind a link is known by them, and is not deleted")
    func safeNames() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for path in ["a:b/x", "c:d/y", "kept"] { try Self.write(shop, path, Self.bytes(1)) }
            let paths = try await Self.sync(shop, bucket) { $0.safeNames = true }.renamed.map(\.path)
            try #require(paths.count == 2)
            let directory = String(try #require(paths[0].split(separator: "/").first))
            try FileManager.default.removeItem(atPath: shop.path("from/c:d"))
            try FileManager.default.createSymbolicLink(atPath: shop.path("from/c:d"), withDestinationPath: "..")
            for exclude in ["\(directory)/", "a:b/"] {
                let report = try await Self.sync(shop, bucket) {
                    ($0.safeNames, $0.deletesGone) = (true, true)
                    $0.filter = SetFilter(exclude: [exclude])
                }
                #expect(report.deleted == [] && report.gone == [paths[1]], "\(report)")
                #expect(paths.allSatisfy { bucket["target/set/" + $0] != nil })
            }
        }
    }

    @Test("Directory: more files than can be listed are a problem, and those that the filter leaves out do not count")
    func bound() async throws {
        try await Workshop.run { shop in
            for number in 0..<20 { try Self.write(shop, "d/\(number)", []) }
            try Self.write(shop, "e/a", [])
            let manager = Self.manager(shop, BucketTransport())
            var options = SyncOptions()
            var limits = SetReader.Limits()
            limits.entries = 10
            func listing() async throws -> SetListing {
                try await SetReader(manager: manager, options: options, limits: limits).read(
                    .directory(shop.path("from")))
            }
            let all = try await listing()
            #expect(all.problems.count == 1 && all.entries.count <= 11, "\(all.problems)")
            options.filter = SetFilter(include: ["a"])
            let some = try await listing()
            #expect(some.problems.isEmpty && some.entries.map(\.path) == ["e/a"], "\(some.problems)")
            await manager.shutdown()
        }
    }

    @Test("Directory: a file that cannot be looked at is a problem, and is not gone")
    func unreadable() async throws {
        try await Workshop.run { shop in
            for name in ["a", "d/b"] { try Self.write(shop, name, [1]) }
            let manager = Self.manager(shop, BucketTransport())
            let reader = SetReader(manager: manager, options: SyncOptions())
            let walk = DirectoryWalk(FilePath(shop.path("from")), reader, SetListing())
            let disk = FaultyFileSystem { operation, path in
                operation == .inspect && path.lastComponent == "b" ? .permission : nil
            }
            #expect(try walk.read("", disk) == ["d"] && walk.listing.problems == [])
            #expect(try walk.read("d", disk) == [])
            #expect(walk.listing.entries.map(\.path) == ["a"] && walk.listing.problems.count == 1)
            await manager.shutdown()

            // A directory whose files cannot be looked at, and one that cannot be read; root may do both.
            let bucket = BucketTransport()
            _ = try await Self.sync(shop, bucket)
            for mode in [0o444, 0] where geteuid() != 0 {
                let directory = shop.path("from/d")
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
                defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
                let report = try await Self.sync(shop, bucket) { $0.deletesGone = true }
                #expect(report.problems.count == 1 && report.gone == ["d/b"] && report.deleted == [], "\(report)")
                #expect(bucket["target/set/d/b"] == [1])
            }
        }
    }

    @Test("Directory: a preview tells what would be stored and compared, and writes nothing")
    func preview() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in ["a", "b", "c"] { try Self.write(shop, name, Self.bytes(1)) }
            _ = try await Self.sync(shop, bucket) { $0.filter = SetFilter(exclude: ["c"]) }
            try Self.write(shop, "b", Self.bytes(1), at: 1_700_000_009)
            let before = bucket.asked.count
            let staged = try Self.staged(shop)
            let manager = Self.manager(shop, bucket)
            let preview = try await manager.previewSync(.directory(shop.path("from")), into: try Self.place(shop))
            await manager.shutdown()
            #expect(preview.files.map(\.action) == [.keep, .check, .fetch] && preview.isOfDirectory)
            #expect(preview.fetchedBytes == 1000 && preview.files.allSatisfy { $0.url == nil })
            #expect(bucket.asked.dropFirst(before).allSatisfy { $0.method == "GET" })
            #expect(try Self.staged(shop) == staged)
            // Nor is the directory made if there is none.
            let (none, other) = (shop.path("none"), Self.manager(shop, bucket))
            _ = try await other.previewSync(
                .directory(shop.path("from")), into: .objects(try DownloadURL("s3://target/set/"), staging: none))
            await other.shutdown()
            #expect(!FileManager.default.fileExists(atPath: none))
        }
    }

    @Test("Directory: a directory as the destination, a file as the source and a missing one are refused")
    func refusals() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let missing = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
            #expect(missing?.code == .invalidRequest)
            try Self.write(shop, "a", [1])
            let error = await #expect(throws: DownloadError.self) {
                try await Self.sync(shop, bucket, into: .directory(shop.path("here")))
            }
            #expect(error?.phrase?.key == .directoryNotUploaded)
            #expect(!FileManager.default.fileExists(atPath: shop.path("here")) && bucket.asked.isEmpty)
            let same = await #expect(throws: DownloadError.self) {
                let target = try DownloadURL("s3://target/set/")
                return try await Self.sync(shop, bucket, into: .objects(target, staging: shop.path("from")))
            }
            #expect(same?.phrase?.key == .stagingIsSource && bucket.asked.isEmpty)
        }
    }

    /// Both were called `a?b`, the name of a third file, which was stored.
    @Test("Directory: a name that cannot be a key is told whole, not as that of another file")
    func controlCharacters() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for name in ["a\nb", "a\tb", "a?b"] { try Self.write(shop, name, Self.bytes(1)) }
            let report = try await Self.sync(shop, bucket)
            #expect(report.fetchedCount == 1 && bucket["target/set/a?b"] != nil, "\(report)")
            #expect(report.problems.count == 2 && report.problems.allSatisfy { !$0.contains("a?b") }, "\(report)")
            for name in ["a\nb", "a\tb"] { #expect(report.problems.contains { $0.contains(name) }, "\(report)") }
        }
    }

    #if os(Linux)
        @Test("Directory: what is left out and what fails is told by the bytes of its name, in JSON too")
        func equivalentNames() async throws {
            try await Workshop.run { shop in
                let bucket = BucketTransport()
                let names = ["cafe\u{301}", "caf\u{E9}"]
                for (number, name) in names.enumerated() {
                    try Self.write(shop, name, Self.bytes(1))
                    bucket["target/set/\(name)"] = [UInt8(number)]
                    try FileManager.default.createSymbolicLink(
                        atPath: shop.path("from/\(name)-link"), withDestinationPath: "none")
                }
                let report = try await Self.sync(shop, bucket)
                #expect(report.incomplete.map { Array($0.path.utf8) } == names.map { Array($0.utf8) }, "\(report)")
                #expect(report.incomplete.allSatisfy { $0.error?.phrase?.key == .thereAlready })
                #expect(report.skipped.map { Array($0.path.utf8) } == names.map { Array("\($0)-link".utf8) })
                let json = try JSONCoding.encode(report)
                for name in names {
                    for text in ["\"\(name)\"", "\"\(name)-link\""] { #expect(Array(json).contains(text)) }
                }
            }
        }
    #endif
}
