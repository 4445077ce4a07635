import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Verification and repair", .timeLimit(.minutes(30)))
struct RepairTests {
    private static let resource = Resource(size: 5_500_000, seed: 5)

    /// Downloads the file with its digests.
    private static func download(_ shop: Workshop, _ change: (inout DownloadRequest) -> Void = { _ in }) async throws
        -> String
    {
        shop.server.serve("/f.bin", resource)
        let outcome = try await shop.get("/f.bin", { _ in }) {
            $0.recordsDigests = true
            change(&$0)
        }
        let file = try outcome.result.get()
        #expect(file.checksum?.bytes == ByteDigest.of(resource.bytes(0..<resource.size), .sha256))
        return file.path
    }

    /// Changes bytes; with `rots`, size and time stay, as when a disk does it.
    private static func damage(_ path: String, at offset: Int, rots: Bool = true) throws {
        let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(offset))
        let old = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: [old ^ 0xFF])
        try handle.close()
        if rots, let date { try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path) }
    }

    private static func verify(_ path: String) async throws -> [VerifiedFile] {
        let found = Collected<VerifiedFile>()
        try await DownloadManager.verify(path) { found.append($0) }
        return found.all
    }

    private static func repair(_ shop: Workshop, _ file: VerifiedFile) async throws -> Result<
        FinishedDownload, DownloadError
    > {
        let template = DownloadRequest(sources: [], destination: .directory(shop.directory))
        let request = try await DownloadManager.repair(file, with: template)
        return try await shop.outcome(of: shop.manager(), request).result
    }

    @Test(
        "Verify: intact; one rotten byte is found as its piece; one that was written is told apart; and a missing file")
    func verify() async throws {
        try await Workshop.run { shop in
            let path = try await Self.download(shop)
            #expect(try await Self.verify(path).map(\.state) == [.intact])
            try Self.damage(path, at: 4_000_000)
            #expect(try await Self.verify(path).map(\.state) == [.damaged([[3 << 20, 4 << 20]])])
            try Self.damage(path, at: 5_499_999, rots: false)
            #expect(
                try await Self.verify(path).map(\.state) == [.changed([[3 << 20, 4 << 20], [5 << 20, 5_500_000]])])
            truncate(path, 1 << 20)
            #expect(try await Self.verify(path).map(\.state) == [.changed([[1 << 20, 5_500_000]])])
            try FileManager.default.removeItem(atPath: path)
            #expect(try await Self.verify(path).map(\.state) == [.missing])
            #expect(try await Self.verify(shop.directory + "/none").map(\.state) == [.missing])
            await #expect(throws: DownloadError.self) { try await Self.verify(shop.directory) }
        }
    }

    @Test("Repair: one rotten byte costs one piece of traffic, and the file is replaced in one step")
    func piece() async throws {
        try await Workshop.run { shop in
            let path = try await Self.download(shop)
            try Self.damage(path, at: 4_000_000)
            let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            let before = shop.server.bodyBytes()
            let file = try #require(try await Self.verify(path).first)
            let result = try await Self.repair(shop, file).get()
            #expect(result.path == path && result.proof == .digest)
            #expect(shop.server.bodyBytes() - before == 1 << 20)
            #expect(shop.server.requests.last?.ifRange == Self.resource.etag)
            #expect(FileManager.default.contents(atPath: path) == Data(Self.resource.bytes(0..<Self.resource.size)))
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int != inode)
            #expect(try await Self.verify(path).map(\.state) == [.intact])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: shop.directory).sorted() == [
                    ".f.bin.ferry-digests", "f.bin",
                ])
        }
    }

    @Test("Repair: without validators, and from another server, the digest decides; a shortened file gets its rest")
    func withoutValidators() async throws {
        try await Workshop.run { shop in
            let whole = Data(Self.resource.bytes(0..<Self.resource.size))
            var plain = Self.resource
            (plain.etag, plain.lastModified) = (nil, nil)
            shop.server.serve("/p.bin", plain)
            let path = try await shop.get("/p.bin", { _ in }) { $0.recordsDigests = true }.result.get().path
            truncate(path, 5 << 20)
            var file = try #require(try await Self.verify(path).first)
            #expect(try await Self.repair(shop, file).get().proof == .digest)
            #expect(FileManager.default.contents(atPath: path) == whole)

            var mirror = Self.resource
            mirror.etag = "\"of-another-server\""
            shop.server.serve("/m.bin", mirror)
            try Self.damage(path, at: 4_000_000)
            file = try #require(try await Self.verify(path).first)
            let template = DownloadRequest(
                sources: [try DownloadURL(shop.server.url("/m.bin"))], destination: .directory(shop.directory))
            let request = try await DownloadManager.repair(file, with: template)
            #expect(try await shop.outcome(of: shop.manager(), request).result.get().proof == .digest)
            #expect(shop.server.bodyBytes("/m.bin") == 1 << 20)
            #expect(FileManager.default.contents(atPath: path) == whole)
        }
    }

    @Test("Repair: if the file on the server has changed, nothing is replaced, and the error says so")
    func changed() async throws {
        try await Workshop.run { shop in
            let path = try await Self.download(shop)
            try Self.damage(path, at: 10)
            let damaged = FileManager.default.contents(atPath: path)
            shop.server.serve("/f.bin", Resource(size: Self.resource.size, seed: 6))
            let file = try #require(try await Self.verify(path).first)
            let result = try await Self.repair(shop, file)
            #expect(throws: DownloadError.self) { try result.get() }
            #expect(FileManager.default.contents(atPath: path) == damaged)
            // The same again, now with the right file.
            shop.server.serve("/f.bin", Self.resource)
            #expect(try await Self.repair(shop, file).get().proof == .digest)
            #expect(try await Self.verify(path).map(\.state) == [.intact])
        }
    }

    @Test("Repair: of a server without ranges the whole is fetched, and the old file stays until the new one is proven")
    func withoutRanges() async throws {
        try await Workshop.run { shop in
            var resource = Self.resource
            (resource.etag, resource.ranges) = (nil, .ignored)
            shop.server.serve("/f.bin", resource)
            let path = try await shop.get("/f.bin", { _ in }) { $0.recordsDigests = true }.result.get().path
            try Self.damage(path, at: 10)
            let damaged = FileManager.default.contents(atPath: path)
            let file = try #require(try await Self.verify(path).first)
            shop.server.always("/f.bin", .cut(after: 3_000_000))
            var template = DownloadRequest(sources: [], destination: .directory(shop.directory))
            template.maxRetries = 1
            let request = try await DownloadManager.repair(file, with: template)
            _ = try await shop.outcome(of: shop.manager(), request)
            #expect(FileManager.default.contents(atPath: path) == damaged)
            shop.server.always("/f.bin", .honest)
            #expect(try await Self.repair(shop, file).get().proof == .digest)
            #expect(FileManager.default.contents(atPath: path) == Data(resource.bytes(0..<resource.size)))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: shop.directory).sorted() == [
                    ".f.bin.ferry-digests", "f.bin",
                ])
        }
    }

    @Test("Repair: a part file of another download is in the way and stays")
    func inTheWay() async throws {
        try await Workshop.run { shop in
            let path = try await Self.download(shop)
            try Self.damage(path, at: 10)
            try Data("x".utf8).write(to: URL(fileURLWithPath: path + ".part"))
            let file = try #require(try await Self.verify(path).first)
            await #expect(throws: DownloadError.self) { try await Self.repair(shop, file) }
            #expect(FileManager.default.contents(atPath: path + ".part") == Data("x".utf8))
        }
    }

    @Test("Repair: an interrupted one is continued, without fetching a byte twice")
    func interrupted() async throws {
        try await Workshop.run { shop in
            let path = try await Self.download(shop)
            for offset in [10, 2_000_000, 4_000_000] { try Self.damage(path, at: offset) }
            let file = try #require(try await Self.verify(path).first)
            let template = DownloadRequest(sources: [], destination: .directory(shop.directory))
            let first = try await DownloadManager.repair(file, with: template)
            let second = try await DownloadManager.repair(file, with: template)
            #expect(first.destination == second.destination)
            let before = shop.server.bodyBytes()
            _ = try await shop.outcome(of: shop.manager(), second).result.get()
            #expect(shop.server.bodyBytes() - before == 3 << 20)
            #expect(try await Self.verify(path).map(\.state) == [.intact])
        }
    }

    @Test("Small files: their digest is in the attribute, without a file beside them", arguments: [0, 1, 100_000])
    func small(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/s.bin", Resource(size: size, seed: 3))
            let path = try await shop.get("/s.bin", { _ in }) { $0.recordsDigests = true }.result.get().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.directory) == ["s.bin"])
            #expect(try await Self.verify(path).map(\.state) == [.intact])
            guard size > 0 else { return }
            try Self.damage(path, at: 0)
            #expect(try await Self.verify(path).map(\.state) == [.damaged([[0, size]])])
        }
    }

    @Test("Digests: of several connections, with another algorithm to compare, over a resume, and of an unknown length")
    func recording() async throws {
        try await Workshop.run { shop in
            let whole = Self.resource.bytes(0..<Self.resource.size)
            let path = try await Self.download(shop) {
                $0.checksum = Checksum(algorithm: .md5, bytes: ByteDigest.of(whole, .md5))
            }
            #expect(try await Self.verify(path).map(\.state) == [.intact])
            shop.server.serve("/g.bin", Resource(size: 3_000_000, seed: 4))
            shop.server.update("/g.bin") { $0.framing = .chunked(65_536) }
            let other = try await shop.get("/g.bin", { _ in }) { $0.recordsDigests = true }.result.get()
            let found = try #require(try await Self.verify(other.path).first)
            #expect(found.state == .intact && found.record?.pieces?.count == 3)
        }
    }
}

/// Values that closures collect.
final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func append(_ value: Value) { values.withLock { $0.append(value) } }
}
