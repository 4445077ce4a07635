import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Mirrors", .timeLimit(.minutes(30)))
struct MirrorTests {
    private func mirror(_ shop: Workshop, _ path: String, host: String? = nil) throws -> DownloadURL {
        try DownloadURL(shop.server.url(path, host: host))
    }

    @Test("Mirrors: after samples match, a mirror replaces a first source that is gone in the middle")
    func takesOver() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", Resource(size: 20_000_000, etag: "\"other\""))
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) { $0.sources.append(mirror) }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .sampled)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("Mirrors: a mirror with another file is dropped, and no restart follows")
    func disagrees() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            shop.server.serve("/m", Resource(size: 20_000_000, seed: 6))
            shop.server.script("/a", [.cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) { $0.sources.append(mirror) }
            #expect(outcome.error?.code == .freshLink)
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a.part", "a.part.ferry"])
        }
    }

    @Test("Mirrors: a mirror of another origin gets neither credentials nor the user's headers")
    func secrets() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            shop.server.script("/a", [.basicAuth("me", "secret"), .cut(after: 5_000_000)], then: .status(404))
            let mirror = try mirror(shop, "/m", host: "localhost")
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.sources.append(mirror)
                $0.credentials = Credentials(user: "me", password: "secret")
                if let name = HTTPField.Name("X-Token") { $0.headers[name] = "abc" }
            }
            try shop.expect(outcome.file.path, is: resource)
            let first = shop.server.traffic.requests(for: "/a")
            #expect(first.allSatisfy { $0.head["X-Token"] == "abc" })
            #expect(first.map { $0.head["Authorization"] != nil }.first == false)
            #expect(first.dropFirst().allSatisfy { $0.head["Authorization"] != nil })
            let others = shop.server.traffic.requests(for: "/m")
            #expect(!others.isEmpty)
            #expect(others.allSatisfy { $0.head["Authorization"] == nil && $0.head["X-Token"] == nil })
        }
    }

    @Test("Mirrors: the next run resumes the mirror's file, although the first source has another one")
    func becamePrimary() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000, etag: "\"of the mirror\"")
            shop.server.serve("/m", resource)
            let mirror = try mirror(shop, "/m")
            // The first source is missing from the start.
            shop.server.script("/m", [.stall(after: 5_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(
                try shop.request("/a") {
                    $0.sources.append(mirror)
                    $0.maxConnections = 1
                })
            await shop.reach(5_000_000, download)
            await manager.shutdown()
            // Now the first source has another file, which must not matter.
            shop.server.always("/m", .honest)
            shop.server.serve("/a", Resource(size: 20_000_000, seed: 5))
            let outcome = try await shop.get("/a", { _ in }) { $0.sources.append(mirror) }
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("Mirrors: a mirror replaces a first source that resets every connection")
    func unreachable() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/m", resource)
            shop.server.always("/a", .drop(.reset))
            let mirror = try mirror(shop, "/m")
            let outcome = try await shop.get("/a", engine: shop.engine(), { $0.maxAttempts = 2 }) {
                $0.sources.append(mirror)
            }
            try shop.expect(outcome.file.path, is: resource)
        }
    }

    @Test("Mirrors: with a checksum, a mirror with other bytes is left, and the download needs no second run")
    func disagreesWithDigest() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", Resource(size: 20_000_000, seed: 6))
            // The mirror is asked for the rest, and the first source answers again afterwards.
            shop.server.script("/a", [.cut(after: 5_000_000), .status(503)])
            let mirror = try mirror(shop, "/m")
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.sources.append(mirror)
                $0.checksum = checksum
                $0.maxConnections = 1
            }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(outcome.notes("is dropped"))
            #expect(outcome.notes("/m) is dropped"))
            #expect(outcome.restartReason == nil)
            #expect(shop.server.bodyBytes("/m") <= 128 << 10)
        }
    }

    @Test("Mirrors: what a mirror sent is fetched from the first source if the file does not have its checksum")
    func wrongLater() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            shop.server.always("/m", .corrupt(at: 15_000_000))
            shop.server.script("/a", [.cut(after: 5_000_000), .status(503)])
            let mirror = try mirror(shop, "/m")
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", engine: shop.engine(), { _ in }) {
                $0.sources.append(mirror)
                $0.checksum = checksum
                $0.maxConnections = 1
            }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(outcome.notes("is dropped"))
            #expect(outcome.restartReason == nil)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Mirrors: a mirror with the right bytes replaces a first source without",
        arguments: [10_000, 3_000_000] as [Int64])
    func wrongFirst(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", Resource(size: size, seed: 6))
            shop.server.serve("/m", resource)
            let mirror = try mirror(shop, "/m")
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let outcome = try await shop.get("/a", { _ in }) {
                $0.sources.append(mirror)
                $0.checksum = checksum
                $0.maxConnections = 1
            }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .digest)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Mirrors: a wrong checksum costs samples of an equal mirror, and no second download")
    func wrongChecksum() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.serve("/m", resource)
            let mirror = try mirror(shop, "/m")
            let wrong = try Checksum(parsing: DigestTests.wrong)
            let outcome = try await shop.get("/a", { _ in }) {
                $0.sources.append(mirror)
                $0.checksum = wrong
                $0.maxConnections = 1
            }
            #expect(outcome.error?.code == .checksum)
            #expect(shop.server.bodyBytes("/m") <= 1 << 20)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            // The mark stays although samples were compared after it was written.
            let again = try await shop.get("/a", { _ in }) {
                $0.checksum = try? Checksum(parsing: "sha256:" + shop.sha256(resource))
            }
            #expect(try again.file.proof == .digest)
        }
    }
}
