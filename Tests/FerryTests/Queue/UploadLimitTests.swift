import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

@Suite("Limits of the rate of what is sent", .timeLimit(.minutes(30)))
struct UploadLimitTests {
    /// The system's clock, on which a wait for 200 bytes under a limit of one byte per second is counted and ends at once.
    private final class CountingClock: EngineClock {
        private let system = SystemClock()
        private let state = Mutex((waits: 0, marked: 0))

        func now() -> Duration { system.now() }
        func date() -> Date { system.date() }
        func sleep(for duration: Duration) async throws {
            // The second one comes before the first 200 s are over.
            guard duration > .seconds(150), duration < .seconds(450) else {
                return try await system.sleep(for: duration)
            }
            state.withLock { $0.waits += 1 }
        }

        /// The waits until the mark, and those after it.
        var waits: (before: Int, after: Int) { state.withLock { ($0.marked, $0.waits - $0.marked) } }
        func mark() { state.withLock { $0.marked = $0.waits } }
    }

    /// A clock that stands still, on which each wait ends at once.
    private struct StandingClock: EngineClock {
        func now() -> Duration { .zero }
        func date() -> Date { Date(timeIntervalSince1970: 0) }
        func sleep(for duration: Duration) async throws {}
    }

    /// Limits in bytes per second; `nil` for none.
    private static func limits(_ own: ByteCount?, session: ByteCount?, all: ByteCount?) -> UploadLimits {
        func throttle(_ rate: ByteCount?) -> Throttle { Throttle(rate: rate, clock: StandingClock()) }
        return UploadLimits(
            throttle(own), throttle(session),
            EngineEnvironment(transport: BucketTransport(), throttle: throttle(all)))
    }

    @Test("Rate limit: a content is read in the pieces of the lowest limit, and waits with each of them")
    func pieces() async throws {
        try await Workshop.run { shop in
            let bytes = [UInt8](repeating: 7, count: 300_000)
            try Data(bytes).write(to: URL(filePath: shop.path("file")))
            let file = try LocalFileSystem().open(FilePath(shop.path("file")), .readOnly)
            defer { file.close() }
            // The pieces of 20 ms, between 1 KiB and those without a limit.
            let cases: [(limits: UploadLimits, pieces: [Int])] = [
                (Self.limits(nil, session: nil, all: nil), [256 << 10, 300_000 - 256 << 10]),
                (Self.limits(5_000_000, session: nil, all: nil), [100_000, 100_000, 100_000]),
                (Self.limits(5_000_000, session: 2_500_000, all: nil), [Int](repeating: 50_000, count: 6)),
                (Self.limits(nil, session: 5_000_000, all: 10_000_000), [100_000, 100_000, 100_000]),
                (Self.limits(nil, session: nil, all: 1), [Int](repeating: 1024, count: 292) + [992]),
            ]
            for (number, one) in cases.enumerated() {
                let bucket = BucketTransport()
                let store = ObjectStore(
                    DownloadRequest(sources: [], destination: .directory("")),
                    shop.engine(transport: bucket).environment(for: .ephemeral), DriverSettings(),
                    limits: one.limits)
                let put = try await store.put(
                    file, totalBytes: ByteCount(bytes.count), as: try DownloadURL("s3://bucket/x"), replacing: nil,
                    begun: nil, note: { _ throws(DownloadError) in })
                #expect(put.outcome == .stored(etag: bucket.object("bucket/x")?.etag) && bucket["bucket/x"] == bytes)
                #expect(bucket.pieces("bucket/x") == one.pieces, "case \(number)")
            }
        }
    }

    @Test("Rate limit: the least share of a request is that of the parts of a file, or of many files")
    func leastShare() {
        #expect(Self.limits(nil, session: nil, all: nil).leastShare == nil)
        #expect(Self.limits(4000, session: nil, all: nil).leastShare == 1000)
        #expect(Self.limits(nil, session: 25_600, all: nil).leastShare == 100)
        #expect(Self.limits(nil, session: nil, all: 51_200).leastShare == 200)
        #expect(Self.limits(4000, session: 25_600, all: 51_200).leastShare == 100)
        #expect(Self.limits(40, session: 25_600, all: 51_200).leastShare == 10)
    }

    enum Limit: CaseIterable { case ofFile, ofAll }

    private static let bytes = [UInt8](repeating: 7, count: 200)

    private static func manager(
        _ shop: Workshop, _ bucket: BucketTransport, _ clock: CountingClock, _ limit: Limit
    ) -> DownloadManager {
        shop.manager(engine: shop.engine(clock: clock, transport: bucket)) {
            $0.rateLimit = limit == .ofAll ? 1 : nil
        }
    }

    @Test(
        "Rate limit: a file that was downloaded becomes an object under the limit of the file and of all",
        arguments: Limit.allCases)
    func afterDownload(_ limit: Limit) async throws {
        try await Workshop.run { shop in
            let (bucket, clock) = (BucketTransport(), CountingClock())
            bucket["from/x"] = Self.bytes
            bucket.before { asked, _ in if asked.method == "PUT" { clock.mark() } }
            let manager = Self.manager(shop, bucket, clock, limit)
            var request = DownloadRequest(
                sources: [try DownloadURL("s3://from/x")], destination: .directory(shop.directory))
            request.uploadTo = try DownloadURL("s3://bucket/x")
            request.rateLimit = limit == .ofFile ? 1 : nil
            _ = try await manager.download(request).finished()
            #expect(clock.waits.after == 1 && bucket["bucket/x"] == Self.bytes)
            await manager.shutdown()
        }
    }

    @Test(
        "Rate limit: a file of a directory becomes an object under the limit of the file and of all, and so does the manifest",
        arguments: Limit.allCases)
    func ofDirectory(_ limit: Limit) async throws {
        try await Workshop.run { shop in
            let (bucket, clock) = (BucketTransport(), CountingClock())
            let from = shop.path("from")
            try FileManager.default.createDirectory(atPath: from, withIntermediateDirectories: true)
            try Data(Self.bytes).write(to: URL(filePath: from + "/a"))
            bucket.before { asked, _ in
                if asked.method == "PUT", asked.key.hasSuffix("ferry-manifest.jsonl") { clock.mark() }
            }
            let manager = Self.manager(shop, bucket, clock, limit)
            var options = SyncOptions()
            options.request.rateLimit = limit == .ofFile ? 1 : nil
            let place = SyncDestination.objects(try DownloadURL("s3://bucket/"), staging: shop.path("staging"))
            let report = try await manager.sync(.directory(from), into: place, options: options)
            #expect(report.isComplete && bucket["bucket/a"] == Self.bytes, "\(report)")
            let manifest = try #require(bucket["bucket/ferry-manifest.jsonl"])
            try #require((200..<400).contains(manifest.count))
            #expect(clock.waits.before == 1 && clock.waits.after == 1)
            await manager.shutdown()
        }
    }
}
