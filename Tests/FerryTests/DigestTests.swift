import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("A digest (A45)", .timeLimit(.minutes(30)))
struct DigestTests {
    static let wrong = "sha256:" + String(repeating: "0", count: 64)

    private func list(_ shop: Workshop, _ text: String) throws -> DownloadURL {
        shop.server.serve("/SUMS", Resource(text: text))
        return try DownloadURL(shop.server.url("/SUMS"))
    }

    @Test("from a list decides about a fresh file", arguments: [10_000, 3_000_000] as [Int64])
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

    @Test("from a list that does not know the file is an error")
    func unknown() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 10_000))
            let sums = try list(shop, "\(String(repeating: "0", count: 64))  other.bin\n")
            let outcome = try await shop.get("/a.bin", { _ in }, { $0.checksumList = sums })
            #expect(outcome.error?.code == .checksum)
            #expect(shop.names == [])
        }
    }

    @Test("from a list that is given when it goes on is looked up too", arguments: [true, false])
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

    @Test("from a list is verified against a finished file, and decides alone")
    func listOnFinished() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            _ = try await shop.get("/a.bin")
            // Bytes rot; length, time and attribute stay.
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

    @Test("that the server offers is proof", arguments: [10_000, 3_000_000] as [Int64])
    func offered(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: size))
            shop.server.always("/a", .reprDigest)
            let file = try await shop.get("/a").file
            #expect(file.proof == .digest)
        }
    }

    @Test(
        "that the server offers and the file has not keeps it from being published, in the next run too",
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

    @Test("that was wrong: asked again for the same it begins anew, for another it verifies what is there")
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
            let sent = shop.server.bodyBytes()
            let right = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let file = try await shop.get("/a", { _ in }, { $0.checksum = right }).file
            #expect(file.proof == .digest)
            #expect(shop.server.bodyBytes() == sent)
            #expect(shop.names == ["a"])
        }
    }

    @Test("of a finished file that has it means that nothing is asked")
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
}
