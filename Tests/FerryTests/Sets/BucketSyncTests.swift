import FerryTesting
import Foundation
import HTTPTypes
import NIOCore
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

@Suite("Sets of files in a bucket", .timeLimit(.minutes(30)))
struct BucketSyncTests {
    private static let manifest = "target/set/ferry-manifest.jsonl"

    private static func place(_ shop: Workshop, _ staging: String = "staging") throws -> SyncDestination {
        .objects(try DownloadURL("s3://target/set/"), staging: shop.path(staging))
    }

    private static func sync(
        _ shop: Workshop, _ bucket: BucketTransport, _ source: String? = nil,
        into destination: SyncDestination? = nil, _ change: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncReport {
        let manager = shop.manager(engine: shop.engine(transport: bucket)) { $0.maxRetries = 1 }
        var options = SyncOptions()
        change(&options)
        do {
            let report = try await manager.sync(
                .url(try DownloadURL(source ?? shop.server.url("/pub/"))), into: try destination ?? place(shop),
                options: options)
            await manager.shutdown()
            return report
        } catch {
            await manager.shutdown()
            throw error
        }
    }

    private static func serve(_ shop: Workshop, _ files: [(name: String, seed: UInt64)]) {
        shop.server.serve("/pub/", SyncTests.page(files.map(\.name)))
        for file in files { shop.server.serve("/pub/" + file.name, Resource(size: 1000, seed: file.seed)) }
    }

    private static func bytes(_ seed: UInt64) -> [UInt8] { Array(Resource(size: 1000, seed: seed).bytes(0..<1000)) }

    private static func records(_ bucket: BucketTransport) throws -> [FileRecord] {
        let lines = String(decoding: try #require(bucket["target/set/ferry-manifest.jsonl"]), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.last == "{\"files\":\(lines.count - 1)}")
        return try lines.dropLast().map { try JSONDecoder().decode(FileRecord.self, from: Data($0.utf8)) }
    }

    @Test(
        "Bucket: a first sync stores all files and a manifest; the next ones fetch what has changed and delete what is gone"
    )
    func update() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            bucket["target/set/mine"] = [1]
            bucket["target/setting"] = [2]
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2), ("c.bin", 3)])
            let first = try await Self.sync(shop, bucket)
            #expect(first.isComplete && first.fetchedCount == 3, "\(first)")
            #expect(bucket["target/set/a.bin"] == Self.bytes(1) && bucket["target/set/c.bin"] == Self.bytes(3))
            #expect(bucket.takeAsked() == ["PUT target/set/a.bin", "PUT target/set/b.bin", "PUT target/set/c.bin"])
            let records = try Self.records(bucket)
            #expect(records.map(\.path) == ["a.bin", "b.bin", "c.bin"])
            for (record, seed) in zip(records, 1...) {
                let bytes = Self.bytes(UInt64(seed))
                #expect(record.storedETag == BucketTransport.Object(bytes: bytes).etag && record.totalBytes == 1000)
                #expect(record.checksum?.bytes == ByteDigest.of(bytes, .sha256) && record.modified == nil)
                #expect(record.etag != nil && record.proof != nil)
            }
            // Nothing is left on this machine.
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.path("staging")) == [])

            let sent = shop.server.bodyBytes("/pub/a.bin")
            let second = try await Self.sync(shop, bucket)
            #expect(second.isComplete && second.unchangedCount == 3 && second.fetchedCount == 0, "\(second)")
            #expect(bucket.takeAsked() == [] && shop.server.bodyBytes("/pub/a.bin") == sent)

            Self.serve(shop, [("a.bin", 9), ("b.bin", 2)])
            let old = BucketTransport.Object(bytes: Self.bytes(1)).etag
            let third = try await Self.sync(shop, bucket)
            #expect(third.isComplete && third.fetchedCount == 1 && third.gone == ["c.bin"], "\(third)")
            #expect(bucket.asked.first { $0.method == "PUT" }?.ifMatch == old)
            #expect(bucket["target/set/a.bin"] == Self.bytes(9) && bucket["target/set/c.bin"] == Self.bytes(3))

            let fourth = try await Self.sync(shop, bucket) { $0.deletesGone = true }
            #expect(fourth.isComplete && fourth.deleted == ["c.bin"] && fourth.gone == [], "\(fourth)")
            #expect(
                bucket.asked.filter { $0.method == "DELETE" }.map(\.ifMatch)
                    == [BucketTransport.Object(bytes: Self.bytes(3)).etag])
            #expect(
                bucket.keys == [
                    "target/set/a.bin", "target/set/b.bin", "target/set/ferry-manifest.jsonl", "target/set/mine",
                    "target/setting",
                ])
        }
    }

    @Test("Bucket: a file of another URL is fetched, though its Last-Modified is that of the recorded one")
    func otherSource() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for (release, seed) in [("/1/", UInt64(1)), ("/2/", 2), ("/3/", 3)] {
                shop.server.serve(release, SyncTests.page(["a.bin"]))
                if seed != 3 { shop.server.serve(release + "a.bin", Resource(size: 1000, seed: seed, etag: nil)) }
            }
            #expect(try await Self.sync(shop, bucket, shop.server.url("/1/")).fetchedCount == 1)
            #expect(try await Self.sync(shop, bucket, shop.server.url("/1/")).unchangedCount == 1)
            let second = try await Self.sync(shop, bucket, shop.server.url("/2/"))
            #expect(second.isComplete && second.fetchedCount == 1, "\(second)")
            #expect(bucket["target/set/a.bin"] == Self.bytes(2))
            // A run that fails does not pass the validators of the one URL on to the other.
            #expect(try await Self.sync(shop, bucket, shop.server.url("/3/")).incomplete.map(\.path) == ["a.bin"])
            shop.server.serve("/3/a.bin", Resource(size: 1000, seed: 3, etag: nil))
            #expect(try await Self.sync(shop, bucket, shop.server.url("/3/")).fetchedCount == 1)
            #expect(bucket["target/set/a.bin"] == Self.bytes(3))
        }
    }

    @Test("Bucket: objects of others are neither replaced nor deleted, unless they are to be replaced")
    func others() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2), ("c.bin", 3)])
            bucket["target/set/a.bin"] = [7]
            let first = try await Self.sync(shop, bucket)
            #expect(first.incomplete.map(\.path) == ["a.bin"] && first.fetchedCount == 2, "\(first)")
            #expect(first.error("a.bin")?.phrase?.key == .thereAlready && bucket["target/set/a.bin"] == [7])
            // Objects of the set that others have written since.
            bucket["target/set/b.bin"] = [8]
            bucket["target/set/c.bin"] = [9]
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            let second = try await Self.sync(shop, bucket) { $0.deletesGone = true }
            #expect(second.incomplete.map(\.path) == ["a.bin", "b.bin"] && second.deleted == [], "\(second)")
            #expect(second.error("b.bin")?.phrase?.key == .changedHere)
            #expect(bucket["target/set/b.bin"] == [8] && bucket["target/set/c.bin"] == [9])
            let third = try await Self.sync(shop, bucket) { $0.replacesOthers = true }
            #expect(third.isComplete && third.fetchedCount == 2, "\(third)")
            #expect(bucket["target/set/a.bin"] == Self.bytes(1) && bucket["target/set/b.bin"] == Self.bytes(2))
            #expect(bucket["target/set/c.bin"] == [9])
        }
    }

    @Test("Bucket: an object that others write during the sync is not replaced, and the file is incomplete")
    func replacedMeanwhile() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            _ = try await Self.sync(shop, bucket)
            Self.serve(shop, [("a.bin", 5), ("b.bin", 2), ("c.bin", 3)])
            bucket.before { asked, bucket in
                guard asked.method == "PUT", !asked.key.hasSuffix("jsonl") else { return }
                bucket[asked.key] = [0]
            }
            let report = try await Self.sync(shop, bucket)
            bucket.before(nil)
            #expect(report.incomplete.map(\.path) == ["a.bin", "c.bin"], "\(report)")
            #expect(report.error("a.bin")?.phrase?.key == .objectChanged)
            #expect(report.error("c.bin")?.phrase?.key == .thereAlready)
            #expect(bucket["target/set/a.bin"] == [0] && bucket["target/set/c.bin"] == [0])
        }
    }

    @Test("Bucket: objects that others delete during the sync, or the manifest, are not made again by it")
    func deletedMeanwhile() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            _ = try await Self.sync(shop, bucket)
            Self.serve(shop, [("a.bin", 5), ("b.bin", 2)])
            bucket.before { asked, bucket in if asked.method == "PUT" { bucket[asked.key] = nil } }
            let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
            bucket.before(nil)
            #expect(error?.phrase?.key == .setChangedMeanwhile)
            #expect(bucket.keys == ["target/set/b.bin"])
        }
    }

    @Test("Bucket: an object that may not be looked at is not deleted, and that is a problem")
    func deniedDeletion() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            _ = try await Self.sync(shop, bucket)
            Self.serve(shop, [("a.bin", 1)])
            bucket.after { asked, _ throws(TransferFailure) in
                guard asked.method == "HEAD" else { return }
                throw TransferFailure(.store(.credentials), ErrorPhrase(.objectDenied, asked.key))
            }
            let report = try await Self.sync(shop, bucket) { $0.deletesGone = true }
            #expect(report.deleted == [] && report.gone == ["b.bin"] && report.problems.count == 1, "\(report)")
            #expect(bucket["target/set/b.bin"] == Self.bytes(2))
            bucket.after(nil)
            #expect(try await Self.sync(shop, bucket) { $0.deletesGone = true }.deleted == ["b.bin"])
        }
    }

    @Test("Bucket: of a store that names no ETag, that of the object counts if its bytes are those of the file")
    func withoutTags() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2), ("c.bin", 3)])
            bucket.after { asked, head throws(TransferFailure) in
                guard asked.method == "PUT", !asked.key.hasSuffix("jsonl") else { return }
                // Without its quotes it is none.
                head.headers[.eTag] = asked.key.hasSuffix("a.bin") ? "abc" : nil
                // Another writer is faster than the question after it.
                if asked.key.hasSuffix("c.bin") { bucket[asked.key] = [9] }
            }
            let report = try await Self.sync(shop, bucket)
            bucket.after(nil)
            #expect(report.fetchedCount == 2 && report.incomplete.map(\.path) == ["c.bin"], "\(report)")
            #expect(
                try Self.records(bucket).map(\.storedETag)
                    == [1, 2].map { BucketTransport.Object(bytes: Self.bytes($0)).etag } + [nil])
            let second = try await Self.sync(shop, bucket)
            #expect(second.unchangedCount == 2 && second.incomplete.map(\.path) == ["c.bin"], "\(second)")
            #expect(bucket["target/set/c.bin"] == [9])
        }
    }

    @Test("Bucket: of two syncs at once one is told, and the next run goes on with what it has stored")
    func twoAtOnce() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            // Another machine writes its manifest before this one does.
            bucket.before { asked, bucket in
                guard asked.method == "PUT", asked.key.hasSuffix("jsonl") else { return }
                bucket.before(nil)
                bucket[asked.key] = Array("{\"files\":0}\n".utf8)
            }
            let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
            #expect(error?.phrase?.key == .setChangedMeanwhile && error?.code == .conflict)
            #expect(bucket["target/set/ferry-manifest.jsonl"] == Array("{\"files\":0}\n".utf8))
            _ = bucket.takeAsked()
            let sent = shop.server.bodyBytes("/pub/a.bin")
            let next = try await Self.sync(shop, bucket)
            #expect(next.isComplete && next.unchangedCount == 2, "\(next)")
            #expect(bucket.takeAsked() == [] && shop.server.bodyBytes("/pub/a.bin") == sent)
            #expect(try Self.records(bucket).count == 2)

            // On this machine the second one is refused before it does anything.
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            let source = SetSource.url(try DownloadURL(shop.server.url("/pub/")))
            let running = try await SetSync(
                of: source, into: try Self.place(shop), options: SyncOptions(), manager: manager)
            let second = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
            #expect(second?.phrase?.key == .setInUse)
            _ = try await running.finish()
            await manager.shutdown()
        }
    }

    @Test("Bucket: an object of a run that was killed before it noted it is compared with its source")
    func killed() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            let manager = shop.manager(engine: shop.engine(transport: bucket)) { $0.maxRetries = 1 }
            let sync = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: try Self.place(shop),
                options: SyncOptions(), manager: manager)
            // Stored, and never told to the sync; its end does not reach the bucket.
            _ = try await manager.download(try #require(sync.requests.first)).finished()
            bucket["target/set/b.bin"] = [1]
            bucket.before { asked, bucket in
                if asked.key.hasSuffix("jsonl") { bucket[asked.key] = [UInt8(ascii: "\n")] }
            }
            await #expect(throws: DownloadError.self) { try await sync.finish() }
            await manager.shutdown()
            bucket.before(nil)
            bucket["target/set/ferry-manifest.jsonl"] = nil

            let report = try await Self.sync(shop, bucket)
            #expect(report.fetchedCount == 1 && report.incomplete.map(\.path) == ["b.bin"], "\(report)")
            #expect(bucket["target/set/a.bin"] == Self.bytes(1) && bucket["target/set/b.bin"] == [1])
            #expect(try Self.records(bucket).first?.storedETag == BucketTransport.Object(bytes: Self.bytes(1)).etag)
        }
    }

    @Test("Bucket: an object whose upload was stopped, or answered with an error, is compared by the next run")
    func unknownOutcome() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2), ("c.bin", 3)])
            let manager = shop.manager(engine: shop.engine(transport: bucket)) { $0.maxRetries = 1 }
            let sync = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: try Self.place(shop),
                options: SyncOptions(), manager: manager)
            // Stored, but the run is stopped before it is told; others are not begun.
            _ = try await manager.download(try #require(sync.requests.first)).finished()
            #expect(try await sync.finish().incomplete.map(\.path) == ["a.bin", "b.bin", "c.bin"])
            await manager.shutdown()
            #expect(bucket["target/set/a.bin"] == Self.bytes(1))
            // An object of others is still not replaced.
            bucket["target/set/b.bin"] = [7]

            bucket.after { asked, _ throws(TransferFailure) in
                guard asked.method == "PUT", asked.key == "target/set/c.bin" else { return }
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400"))
            }
            let second = try await Self.sync(shop, bucket)
            bucket.after(nil)
            #expect(second.incomplete.map(\.path) == ["b.bin", "c.bin"], "\(second)")
            #expect(bucket["target/set/b.bin"] == [7] && bucket["target/set/c.bin"] == Self.bytes(3))
            let sent = shop.server.bodyBytes("/pub/b.bin")
            let third = try await Self.sync(shop, bucket)
            #expect(third.incomplete.map(\.path) == ["b.bin"] && third.fetchedCount == 1, "\(third)")
            // Once compared, an object of others is not fetched again; and nothing is noted any more.
            #expect(shop.server.bodyBytes("/pub/b.bin") == sent)
            let left = try FileManager.default.contentsOfDirectory(atPath: shop.path("staging"))
            #expect(!left.contains { $0.hasSuffix(".ferry-set") })
            #expect(try Self.records(bucket).compactMap(\.proof).count == 2)
        }
    }

    @Test(
        "Bucket: what was received of files that are gone from the source, or whose key others have taken, does not stay here"
    )
    func leftParts() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let names = ["gone.bin", "taken.bin", "later.bin"]
            shop.server.serve("/pub/", SyncTests.page(names))
            for name in names {
                shop.server.serve("/pub/" + name, Resource(size: 3_000_000, seed: 1))
                shop.server.always("/pub/" + name, .stall(after: 2_000_000))
            }
            func staged(_ ending: String) throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: shop.path("staging")).filter {
                    $0.hasSuffix(ending)
                }
            }
            let mine = shop.path("staging/mine.bin.part")
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            var options = SyncOptions()
            options.request.maxConnections = 1
            let first = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: try Self.place(shop), options: options,
                manager: manager)
            for request in first.requests {
                let download = try await manager.download(request)
                await shop.reach(2_000_000, download)
            }
            await manager.shutdown()
            #expect(try await first.finish().incomplete.count == 3)
            #expect(try staged(".bin.part").count == 3)
            try Data([1]).write(to: URL(filePath: mine))

            // What the filter leaves out may be wanted again.
            for name in names { shop.server.always("/pub/" + name, .honest) }
            shop.server.serve("/pub/", SyncTests.page(["taken.bin", "later.bin"]))
            bucket["target/set/taken.bin"] = [7]
            let second = try await Self.sync(shop, bucket) { $0.filter = SetFilter(exclude: ["later*"]) }
            #expect(second.incomplete.map(\.path) == ["taken.bin"], "\(second)")
            #expect(bucket["target/set/taken.bin"] == [7])
            #expect(try staged("later.bin.part").count == 1)
            #expect(try staged("gone.bin.part") == [] && staged("taken.bin.part") == [])
            #expect(FileManager.default.fileExists(atPath: mine))

            let before = shop.server.bodyBytes("/pub/later.bin")
            let third = try await Self.sync(shop, bucket)
            #expect(third.fetchedCount == 1 && bucket["target/set/later.bin"]?.count == 3_000_000, "\(third)")
            #expect(shop.server.bodyBytes("/pub/later.bin") - before < 3_000_000)
            try FileManager.default.removeItem(atPath: mine)
            #expect(try staged("") == [])
        }
    }

    @Test("Bucket: objects of another bucket with the ETags of the manifest are not requested, and nothing is written")
    func fromBucket() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for (key, seed) in [("a", 1), ("d/b", 2), ("d/c", 3)] { bucket["from/x/" + key] = Self.bytes(UInt64(seed)) }
            let first = try await Self.sync(shop, bucket, "s3://from/x/")
            #expect(first.isComplete && first.fetchedCount == 3, "\(first)")
            #expect(bucket["target/set/d/b"] == Self.bytes(2))
            _ = bucket.takeAsked()
            let second = try await Self.sync(shop, bucket, "s3://from/x/")
            #expect(second.isComplete && second.unchangedCount == 3, "\(second)")
            #expect(bucket.asked.allSatisfy { $0.isList || $0.method == "GET" } && bucket.takeAsked() == [])
            bucket["from/x/d/c"] = Self.bytes(4)
            #expect(try await Self.sync(shop, bucket, "s3://from/x/").fetchedCount == 1)
            #expect(bucket.takeAsked() == ["GET from/x/d/c", "PUT target/set/d/c"])
        }
    }

    @Test("Bucket: an object that has the digest of the list becomes one of the set, and is not stored again")
    func adopted() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            let sums = [("a.bin", 1), ("b.bin", 2)].map { name, seed in
                HexText.string(ByteDigest.of(Self.bytes(UInt64(seed)), .sha256)) + "  \(name)\n"
            }
            shop.server.serve("/pub/SUMS", Resource(text: sums.joined()))
            bucket["target/set/a.bin"] = Self.bytes(1)
            let report = try await Self.sync(shop, bucket, shop.server.url("/pub/SUMS"))
            #expect(report.isComplete && report.fetchedCount == 1 && report.unchangedCount == 1, "\(report)")
            #expect(bucket.takeAsked().filter { $0.hasSuffix("a.bin") } == ["HEAD target/set/a.bin"])
            #expect(shop.server.bodyBytes("/pub/b.bin") == 1000)

            // One that has another digest is not of the set; the file is neither sent to the store nor left here.
            bucket["target/set/b.bin"] = [7]
            _ = bucket.takeAsked()
            let second = try await Self.sync(shop, bucket, shop.server.url("/pub/SUMS"))
            #expect(second.incomplete.map(\.path) == ["b.bin"] && second.unchangedCount == 1, "\(second)")
            #expect(second.error("b.bin")?.phrase?.key == .thereAlready)
            #expect(bucket.takeAsked() == ["HEAD target/set/b.bin"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.path("staging")) == [])
        }
    }

    @Test("Bucket: a prefix that is a set is a source without its manifest, also of deletions, and becomes a directory")
    func chain() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            for (key, seed) in [("a", 1), ("d/b", 2)] { bucket["from/x/" + key] = Self.bytes(UInt64(seed)) }
            #expect(try await Self.sync(shop, bucket, "s3://from/x/").fetchedCount == 2)
            let chained = SyncDestination.objects(try DownloadURL("s3://third/"), staging: shop.path("staging"))
            let copied = try await Self.sync(shop, bucket, "s3://target/set/", into: chained)
            #expect(copied.isComplete && copied.fetchedCount == 2, "\(copied)")
            #expect(bucket["third/d/b"] == Self.bytes(2))
            bucket["from/x/d/b"] = nil
            #expect(try await Self.sync(shop, bucket, "s3://from/x/") { $0.deletesGone = true }.deleted == ["d/b"])
            let pruned = try await Self.sync(shop, bucket, "s3://target/set/", into: chained) { $0.deletesGone = true }
            #expect(pruned.isComplete && pruned.deleted == ["d/b"] && bucket["third/d/b"] == nil, "\(pruned)")
            let here = try await Self.sync(shop, bucket, "s3://third/", into: .directory(shop.path("here")))
            #expect(here.isComplete && here.listedCount == 1 && here.fetchedCount == 1, "\(here)")
        }
    }

    @Test("Bucket: a manifest that is not whole is not replaced, and nothing is requested")
    func damaged() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2)])
            _ = try await Self.sync(shop, bucket)
            let whole = try #require(bucket["target/set/ferry-manifest.jsonl"])
            let lines = whole.split(separator: UInt8(ascii: "\n")).map { Array($0) }
            let cut: [[UInt8]] = [
                [], Array("\n".utf8), Array("<html></html>\n".utf8), Array(whole.dropLast(20)),
                lines[0] + Array("\n".utf8) + lines[1], lines[0] + Array("\n".utf8) + lines[2],
            ]
            for bytes in cut {
                bucket["target/set/ferry-manifest.jsonl"] = bytes
                _ = bucket.takeAsked()
                let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket) }
                #expect(error?.phrase?.key == .manifestNotWhole)
                #expect(bucket.takeAsked() == [] && bucket["target/set/ferry-manifest.jsonl"] == bytes)
            }
            bucket["target/set/ferry-manifest.jsonl"] = whole
            #expect(try await Self.sync(shop, bucket).unchangedCount == 2)
        }
    }

    @Test("Bucket: a manifest of any size is read as it arrives, and stored in parts under its ETag")
    func largeManifest() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let engine = shop.engine(transport: bucket).environment(for: .ephemeral)
            var settings = DriverSettings()
            settings.maxRetries = 0
            let store = ObjectStore(
                DownloadRequest(sources: [], destination: .directory("")), engine, settings)
            let object = try DownloadURL("s3://target/set/ferry-manifest.jsonl")
            let path = shop.path("text")
            let long = String(repeating: "n", count: 400)
            let records = (0..<18_000).map { number in
                var record = FileRecord(path: "d\(number % 7)/\(long)\(number)", urls: ["http://h/\(number)"])
                (record.totalBytes, record.proof, record.storedETag) = (1000, .single, "\"\(number)\"")
                return record
            }
            let text = try records.flatMap { try Manifest.line($0) } + Array("{\"files\":18000}\n".utf8)
            try #require(text.count > 8 << 20)
            try Data(text).write(to: URL(filePath: path))
            let file = try LocalFileSystem().open(FilePath(path), .readOnly)
            defer { file.close() }
            func put(_ tag: String?) async throws -> ObjectStore.Outcome {
                let put = try await store.put(
                    file, totalBytes: ByteCount(text.count), as: object, replacing: tag, begun: nil,
                    note: { _ throws(DownloadError) in })
                #expect(put.openUpload == nil || put.outcome == .exists)
                return put.outcome
            }
            let stored = try await put(nil)
            #expect(stored == .stored(etag: bucket.object(Self.manifest)?.etag))
            #expect(bucket.object(Self.manifest)?.parts?.count == 2 && bucket[Self.manifest] == text)

            let read = try #require(
                try await store.read(object, most: 1 << 30, into: { ArrivingManifest() }) { await $0.append($1) })
            let content = read.content.finish()
            #expect(read.isWhole && read.etag == bucket.object(Self.manifest)?.etag)
            #expect(content.records == records && content.digest == ByteDigest.of(text, .sha256))
            let cut = try await store.read(object, most: 1 << 20, into: { ArrivingManifest() }) { await $0.append($1) }
            #expect(cut?.isWhole == false && cut?.content.finish().records == nil)

            // Another one is there: it stays, and no upload does.
            bucket[Self.manifest] = [1]
            #expect(try await put(nil) == .exists)
            #expect(try await put(read.etag) == .exists)
            #expect(bucket[Self.manifest] == [1] && bucket.openUploads == [])
        }
    }

    /// Lets the upload of the second part of a manifest fail, which is as if the run were killed there, and returns what
    /// syncs again. The manifest is large by files that the filter leaves out.
    private static func brokenManifest(
        _ shop: Workshop, _ bucket: BucketTransport
    ) async throws -> () async throws -> SyncReport {
        let long = String(repeating: "n", count: 900_000)
        let records = (0..<10).map { number in
            var record = FileRecord(path: "other/\(number)", urls: ["http://h/\(long)"])
            (record.totalBytes, record.proof, record.storedETag) = (1, .single, "\"\(number)\"")
            return record
        }
        bucket[manifest] = try records.flatMap { try Manifest.line($0) } + Array("{\"files\":10}\n".utf8)
        bucket["from/a"] = [1]
        let again = {
            try await sync(shop, bucket, "s3://from/") { $0.filter = SetFilter(exclude: ["other/*"]) }
        }
        bucket.after { asked, _ throws(TransferFailure) in
            guard asked.key == manifest, asked.upload == "2" else { return }
            throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400"))
        }
        await #expect(throws: DownloadError.self) { try await again() }
        bucket.after(nil)
        #expect(bucket.openUploads == [manifest])
        return again
    }

    @Test(
        "Bucket: an upload of the manifest in parts that broke off goes on at the next run, also if none can be listed",
        arguments: [true, false])
    func brokenManifestGoesOn(mayList: Bool) async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let again = try await Self.brokenManifest(shop, bucket)
            let before = bucket.asked.count
            bucket.after { asked, _ throws(TransferFailure) in
                guard !mayList, asked.method == "GET", asked.upload != nil else { return }
                throw TransferFailure(.store(.credentials), ErrorPhrase(.objectDenied, asked.key))
            }
            let report = try await again()
            bucket.after(nil)
            #expect(report.isComplete && report.unchangedCount == 1, "\(report)")
            let asked = bucket.asked.dropFirst(before).filter { $0.key == Self.manifest }.compactMap(\.upload)
            #expect(!asked.isEmpty && !asked.contains("uploads"))
            #expect(mayList || asked.contains("1") && asked.contains("2"))
            #expect(try Self.records(bucket).map(\.path) == ["a"] + (0..<10).map { "other/\($0)" })
            #expect(bucket.openUploads == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.path("staging")) == [])
        }
    }

    @Test("Bucket: an upload of the manifest that is not needed any more is ended, and noted until the store does it")
    func brokenManifestEnds() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            let again = try await Self.brokenManifest(shop, bucket)
            // The next manifest is small.
            bucket[Self.manifest] = nil
            bucket.isAbortRefused = true
            for _ in 0..<2 {
                #expect(try await again().isComplete)
                #expect(bucket.openUploads == [Self.manifest])
                #expect(try Self.records(bucket).map(\.path) == ["a"])
            }
            bucket.isAbortRefused = false
            #expect(try await again().isComplete)
            #expect(bucket.openUploads == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.path("staging")) == [])
        }
    }

    /// Runs `body` with a store of a bucket, and a file of 9 MiB that becomes an object in two parts.
    private static func withLargeFile(
        _ body: @Sendable (ObjectStore, BucketTransport, _ file: any File, _ bytes: [UInt8]) async throws -> Void
    ) async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            var settings = DriverSettings()
            settings.maxRetries = 0
            let store = ObjectStore(
                DownloadRequest(sources: [], destination: .directory("")),
                shop.engine(transport: bucket).environment(for: .ephemeral), settings)
            let bytes = [UInt8](repeating: 7, count: 9 << 20)
            try Data(bytes).write(to: URL(filePath: shop.path("large")))
            let file = try LocalFileSystem().open(FilePath(shop.path("large")), .readOnly)
            defer { file.close() }
            try await body(store, bucket, file, bytes)
        }
    }

    @Test("Bucket: an upload in parts that cannot be noted is aborted, unless it was noted before")
    func withoutNote() async throws {
        try await Self.withLargeFile { store, bucket, file, bytes in
            let object = try DownloadURL("s3://target/large")
            func put(begun: String?) async throws(DownloadError) {
                _ = try await store.put(
                    file, totalBytes: ByteCount(bytes.count), as: object, replacing: nil, begun: begun,
                    note: { _ throws(DownloadError) in throw DownloadError(.disk, ErrorPhrase(.stopped)) })
            }
            let error = await #expect(throws: DownloadError.self) { try await put(begun: nil) }
            #expect(error?.code == .disk && bucket.openUploads == [] && bucket.keys == [])
            #expect(bucket.takeAsked() == ["DELETE target/large?", "HEAD target/large", "POST target/large?uploads"])
            let id = try await store.begin(object)
            await #expect(throws: DownloadError.self) { try await put(begun: id) }
            #expect(bucket.openUploads == ["target/large"])
        }
    }

    @Test("Bucket: an upload in parts that the store does not end is returned, also if others have stored the same")
    func openUpload() async throws {
        try await Self.withLargeFile { store, bucket, file, bytes in
            func put(_ key: String) async throws -> (outcome: ObjectStore.Outcome, openUpload: String?) {
                try await store.put(
                    file, totalBytes: ByteCount(bytes.count), as: try DownloadURL("s3://target/" + key),
                    replacing: nil, begun: nil, note: { _ throws(DownloadError) in })
            }
            let alone = try await put("alone")
            #expect(alone.outcome == .stored(etag: bucket.object("target/alone")?.etag) && alone.openUpload == nil)
            bucket.before { asked, bucket in
                guard asked.method == "POST", asked.upload == "" else { return }
                bucket.put(asked.key, parts: [Array(bytes[..<(8 << 20)]), Array(bytes[(8 << 20)...])])
            }
            bucket.isAbortRefused = true
            let open = try await put("both")
            #expect(open.outcome == .stored(etag: bucket.object("target/both")?.etag) && open.openUpload == "u2")
            bucket.isAbortRefused = false
            let ended = try await put("ended")
            #expect(ended.outcome == .stored(etag: bucket.object("target/ended")?.etag) && ended.openUpload == nil)
            #expect(bucket.openUploads == ["target/both"])
        }
    }

    @Test("Bucket: a line that is noted for the next run leaves the records of its manifest as they are")
    func notedLine() async throws {
        try await Workshop.run { shop in
            let (path, fileSystem) = (FilePath(shop.path("noted")), LocalFileSystem())
            var manifest = try Manifest(at: path, of: "s3://target/set/", .noted, fileSystem: fileSystem)
            try manifest.append(FileRecord(path: "a"))
            var record = FileRecord(path: "ferry-manifest.jsonl")
            record.uploadID = "u1"
            try manifest.appendLine(of: record)
            try manifest.append(FileRecord(path: "b"))
            #expect(Set(manifest.records.values.map(\.path)) == ["a", "b"])
            manifest.close()
            let content = try Manifest.content(at: path, of: "s3://target/set/", .noted, fileSystem: fileSystem)
            #expect(content?.records.map(\.path) == ["a", "ferry-manifest.jsonl", "b"])
            #expect(content?.records.map(\.uploadID) == [nil, "u1", nil])
        }
    }

    @Test("Bucket: what is noted of the manifest's upload is no file of the set, and counts in no stored manifest")
    func notedManifest() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            _ = try await Self.brokenManifest(shop, bucket)
            bucket[Self.manifest] = nil
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            let preview = try await manager.previewSync(
                .url(try DownloadURL("s3://from/")), into: try Self.place(shop))
            await manager.shutdown()
            #expect(preview.files.map(\.path) == ["a"] && preview.files.map(\.action) == [.keep], "\(preview)")
            // Who writes to the bucket names no upload.
            var record = FileRecord(path: "ferry-manifest.jsonl")
            record.uploadID = "u1"
            bucket[Self.manifest] = try Manifest.line(record) + Array("{\"files\":1}\n".utf8)
            let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket, "s3://from/") }
            #expect(error?.phrase?.key == .manifestNotWhole && bucket.openUploads == [Self.manifest])
        }
    }

    @Test("Bucket: a manifest that arrives in pieces of any size is the same, and a line without an end is none")
    func arriving() async throws {
        let records = (0..<20).map { FileRecord(path: "a\\\($0).old") }
        let text = try records.flatMap { try Manifest.line($0) } + Array("{\"files\":20}\n".utf8)
        for size in [1, 7, 100, text.count] {
            let arriving = ArrivingManifest()
            for start in stride(from: 0, to: text.count, by: size) {
                let piece = ByteBuffer(bytes: text[start..<min(text.count, start + size)])
                #expect(await arriving.append(piece))
            }
            #expect(arriving.finish().records == records)
        }
        let endless = ArrivingManifest()
        var count = 0
        while await endless.append(ByteBuffer(repeating: 0x20, count: 60_000)), count < 100 { count += 1 }
        #expect(count < 100 && endless.finish().isBroken && endless.finish().records == nil)
    }

    @Test("Bucket: the objects below a prefix are listed in the order of their keys; a prefix of none is refused")
    func listed() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            bucket["from/d/b c"] = [1, 2]
            bucket["from/d/a/x"] = [1]
            bucket["from/d/a/"] = []
            bucket["from/d/ferry-manifest.jsonl"] = [3]
            bucket["from/dd"] = [4]
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            let request = DownloadRequest(sources: [], destination: .directory(""))
            for prefix in ["s3://from/d/", "s3://from/d"] {
                let found = try await manager.objects(below: DownloadURL(prefix), as: request)
                #expect(found.objects.map(\.url) == ["s3://from/d/a/x", "s3://from/d/b%20c"], "\(found)")
                #expect(found.objects.map(\.totalBytes) == [1, 2] && found.problems == [])
                #expect(found.objects[1].etag == bucket.object("from/d/b c")?.etag)
            }
            #expect(try await manager.objects(below: DownloadURL("s3://from"), as: request).objects.count == 4)
            let none = await #expect(throws: DownloadError.self) {
                try await manager.objects(below: DownloadURL("s3://from/none/"), as: request)
            }
            #expect(none?.phrase?.key == .noSuchObject && none?.code == .refused)
            let other = await #expect(throws: DownloadError.self) {
                try await manager.objects(below: DownloadURL("http://from/d/"), as: request)
            }
            #expect(other?.code == .invalidRequest)
            #expect(bucket.asked.allSatisfy { $0.isList })
            await manager.shutdown()
        }
    }

    @Test("Bucket: a list is requested with the fields of the request, and with its secrets if they are of that store")
    func listedWithFields() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            bucket["from/d/a"] = [1]
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            let prefix = try DownloadURL("s3://from/d/")
            let payer = try #require(HTTPField.Name("x-amz-request-payer"))
            let other = try DownloadURL("https://other.test/x")
            var request = DownloadRequest(sources: [], destination: .directory(""))
            let open: HTTPFields = [.accept: "a/b"]
            request.headers = open
            request.headers[payer] = "requester"
            func fields() async throws -> HTTPFields? {
                _ = try await manager.objects(below: prefix, as: request)
                return bucket.asked.last?.userFields
            }
            #expect(try await fields() == request.headers)
            request.secretsOrigin = prefix.origin
            #expect(try await fields() == request.headers)
            request.secretsOrigin = other.origin
            #expect(try await fields() == open)
            (request.secretsOrigin, request.sources) = (nil, [other])
            #expect(try await fields() == open)
            await manager.shutdown()
        }
    }

    @Test("Bucket: a preview writes nothing, here and there")
    func preview() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1), ("b.bin", 2), ("c.bin", 3)])
            bucket["target/set/a.bin"] = [7]
            _ = try await Self.sync(shop, bucket) { $0.filter = SetFilter(include: ["b.bin"]) }
            let before = bucket.asked.count
            let manager = shop.manager(engine: shop.engine(transport: bucket))
            let preview = try await manager.previewSync(
                .url(try DownloadURL(shop.server.url("/pub/"))), into: try Self.place(shop, "none"))
            await manager.shutdown()
            #expect(preview.files.map(\.action) == [.leave, .check, .fetch])
            #expect(bucket.asked.dropFirst(before).allSatisfy { $0.method == "GET" })
            #expect(!FileManager.default.fileExists(atPath: shop.path("none")))
        }
    }

    @Test(
        "Bucket: a prefix in itself and a directory for old files are refused, and a key that is too long is left out")
    func refusals() async throws {
        try await Workshop.run { shop in
            let bucket = BucketTransport()
            Self.serve(shop, [("a.bin", 1)])
            for source in ["s3://target/set/", "s3://target/set", "s3://target/", "s3://target/set/deeper/"] {
                let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, bucket, source) }
                #expect(error?.phrase?.key == .setInItself)
            }
            let error = await #expect(throws: DownloadError.self) {
                try await Self.sync(shop, bucket) { $0.backupDirectory = shop.path("old") }
            }
            #expect(error?.phrase?.key == .backupOfObjects)
            for prefix in ["https://target/set/", "s3://target/set/?versionId=1"] {
                let place = SyncDestination.objects(try DownloadURL(prefix), staging: shop.path("staging"))
                let error = await #expect(throws: DownloadError.self) {
                    try await Self.sync(shop, bucket, into: place)
                }
                #expect(error?.phrase?.key == .uploadsObjects && error?.code == .invalidRequest)
            }
            #expect(bucket.asked.isEmpty)
            let deep = String(repeating: "d/", count: 10) + String(repeating: "n", count: 240) + "/"
            let long = String(repeating: deep, count: 4) + "x"
            bucket["from/" + long] = [1]
            bucket["from/y"] = [2]
            let report = try await Self.sync(shop, bucket, "s3://from/")
            #expect(report.fetchedCount == 1 && report.problems.count == 1 && !report.isComplete, "\(report)")
            #expect(bucket["target/set/y"] == [2])
        }
    }
}
