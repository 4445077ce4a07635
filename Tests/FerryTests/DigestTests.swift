import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Digests (A45)", .timeLimit(.minutes(30)))
struct DigestTests {
    static let wrong = "sha256:" + String(repeating: "0", count: 64)

    private func list(_ shop: Workshop, _ text: String) throws -> DownloadURL {
        shop.server.serve("/SUMS", Resource(text: text))
        return try DownloadURL(shop.server.url("/SUMS"))
    }

    @Test(
        "Checksum list: a right digest proves a fresh file, and a wrong one keeps it from being published",
        arguments: [10_000, 3_000_000] as [Int64])
    func list(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            let sums = try list(shop, "\(shop.sha256(resource))  a.bin\n")
            let file = try await shop.get("/a.bin", { _ in }, { $0.checksumList = sums }).file
            #expect(file.proof == .digest)
            let wrongSums = try list(shop, "\(String(repeating: "0", count: 64))  a.bin\n")
            let outcome = try await shop.get(
                "/a.bin", { _ in },
                {
                    $0.checksumList = wrongSums
                    $0.destination = .file(shop.path("b"))
                })
            #expect(outcome.error?.code == .checksum)
            #expect(!shop.names.contains("b"))
        }
    }

    @Test("Checksum list: a list without the file's name is a checksum error, and nothing is written")
    func unknown() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 10_000))
            let sums = try list(shop, "\(String(repeating: "0", count: 64))  other.bin\n")
            let outcome = try await shop.get("/a.bin", { _ in }, { $0.checksumList = sums })
            #expect(outcome.error?.code == .checksum)
            #expect(shop.names == [])
        }
    }

    @Test("Checksum list: a list that is given on resume is looked up too", arguments: [true, false])
    func listOnResume(isRight: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a.bin", resource)
            try await shop.interrupt("/a.bin", after: 5_000_000)
            let digest = isRight ? shop.sha256(resource) : String(repeating: "0", count: 64)
            let sums = try list(shop, "\(digest) *a.bin\n")
            let outcome = try await shop.get("/a.bin", { _ in }, { $0.checksumList = sums })
            if isRight {
                #expect(try outcome.file.proof == .digest)
            } else {
                #expect(outcome.error?.code == .checksum)
                #expect(shop.names == ["a.bin.part", "a.bin.part.ferry"])
            }
        }
    }

    @Test("Checksum list: the digest alone decides about a finished file, and a damaged one is fetched again")
    func listOnFinished() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            _ = try await shop.get("/a.bin")
            // Some bytes change; length, time and attribute stay.
            let attributes = try FileManager.default.attributesOfItem(atPath: shop.path("a.bin"))
            let handle = try FileHandle(forUpdating: URL(filePath: shop.path("a.bin")))
            try handle.seek(toOffset: 1000)
            try handle.write(contentsOf: Data([1, 2, 3, 4, 5]))
            try handle.close()
            let date = try #require(attributes[.modificationDate] as? Date)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: shop.path("a.bin"))
            let sums = try list(shop, "\(shop.sha256(resource))  a.bin\n")
            let file = try await shop.get("/a.bin", { _ in }, { $0.checksumList = sums }).file
            #expect(!file.wasAlreadyComplete)
            #expect(file.path == shop.path("a (1).bin"))
            shop.expect(file.path, is: resource)
        }
    }

    @Test(
        "Repr-Digest: a right digest from the server is the proof of the file",
        arguments: [10_000, 3_000_000] as [Int64])
    func offered(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: size))
            shop.server.always("/a", .reprDigest)
            let file = try await shop.get("/a").file
            #expect(file.proof == .digest)
        }
    }

    @Test(
        "Repr-Digest: a wrong digest from the server keeps the file from being published, in the next run too",
        arguments: [10_000, 3_000_000] as [Int64])
    func offeredWrong(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: size))
            shop.server.always("/a", .wrongReprDigest)
            for _ in 0..<2 {
                let outcome = try await shop.get("/a")
                #expect(outcome.error?.code == .checksum)
                #expect(!shop.names.contains("a"))
                #expect(shop.names.contains("a.part.ferry"))
            }
        }
    }

    @Test("Checksum: after a mismatch the same digest fetches again, and a right one verifies the bytes on disk")
    func wrongThenRight() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            let first = try await shop.get("/a", { _ in }, { $0.checksum = wrong })
            #expect(first.error?.code == .checksum)
            let second = try await shop.get("/a", { _ in }, { $0.checksum = wrong })
            #expect(second.error?.code == .checksum)
            #expect(second.restartReason?.contains("digest") == true)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            let sent = shop.server.bodyBytes()
            let right = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let file = try await shop.get("/a", { _ in }, { $0.checksum = right }).file
            #expect(file.proof == .digest)
            #expect(shop.server.bodyBytes() == sent)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Checksum: a finished file with the given digest is the result without a request")
    func finished() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            _ = try await shop.get("/a")
            let count = shop.server.requests.count
            let right = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let file = try await shop.get("/a", { _ in }, { $0.checksum = right }).file
            #expect(file.wasAlreadyComplete)
            #expect(shop.server.requests.count == count)
        }
    }

    @Test("Checksum: a run without one does not expect the refuted one of an earlier run, and fetches anew")
    func withoutOne() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            let first = try await shop.get("/a", { _ in }, { $0.checksum = wrong })
            #expect(first.error?.suggestion?.contains("--checksum none accepts it") == true)
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.notes("none is compared"))
            #expect(shop.names == ["a"])
        }
    }

    @Test("Checksum: none takes a refuted file as it is, without a request", arguments: [false, true])
    func none(isNamed: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            _ = try await shop.get("/a", { _ in }, { $0.checksum = wrong })
            let count = shop.server.requests.count
            let file = try await shop.get("/a", { _ in }) {
                $0.ignoresEarlierChecksum = true
                if isNamed { ($0.sources, $0.destination) = ([], .part(shop.path("a.part"))) }
            }.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .single)
            #expect(shop.server.requests.count == count)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Checksum: that of an interrupted run is expected by the next one, whose error says so")
    func ofEarlierRun() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            try await shop.interrupt("/a", after: 1_000_000) { $0.checksum = wrong }
            let second = try await shop.get("/a")
            #expect(second.notes("as given to an earlier run"))
            #expect(second.error?.code == .checksum)
            #expect(second.error?.suggestion?.contains("was given to an earlier run") == true)
            #expect(second.error?.suggestion?.contains("--checksum") == true)
        }
    }

    @Test("Checksum: none takes no file whose parts were joined because a digest was to decide")
    func joinedForDigest() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            try await shop.interrupt("/a", after: 1_000_000) { $0.checksum = wrong }
            #expect(try await shop.get("/a").error?.code == .checksum)
            let outcome = try await shop.get("/a", { _ in }, { $0.ignoresEarlierChecksum = true })
            #expect(outcome.restartReason?.contains("to be checked by a digest") == true)
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Checksum: a listed download whose checksum is changed to none completes with the bytes that are there")
    func changedToNone() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let wrong = try Checksum(parsing: Self.wrong)
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.checksum = wrong })
            await #expect(throws: DownloadError.self) { _ = try await download.finished() }
            let count = shop.server.requests.count
            try await download.change { $0.checksum = nil }
            try await download.resume()
            let file = try await download.finished()
            await manager.shutdown()
            shop.expect(file.path, is: resource)
            #expect(shop.server.requests.count == count)
        }
    }
}
