import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Download to a stream", .timeLimit(.minutes(30)))
struct StreamTests {
    /// Downloads to a file's descriptor and returns the outcome and the file's path.
    private func get(
        _ path: String, _ shop: Workshop, _ change: @Sendable (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> (Workshop.Outcome, String) {
        let output = shop.path("output")
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let handle = try FileHandle(forWritingTo: URL(filePath: output))
        defer { try? handle.close() }
        let outcome = try await shop.get(path, engine: shop.engine(), { _ in }) {
            $0.destination = .stream(handle.fileDescriptor)
            change(&$0)
        }
        return (outcome, output)
    }

    @Test(
        "Stream: the file arrives in order over one connection, and no other file is written",
        arguments: [0, 1, 500_000, 20_000_000] as [Int64])
    func whole(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", resource)
            let (outcome, output) = try await get("/a", shop)
            #expect(try outcome.file.path == "")
            shop.expect(output, is: resource)
            #expect(shop.names == ["output"])
            #expect(shop.server.traffic.peakRequests == 1)
        }
    }

    @Test("Stream: after broken connections it resumes with Range and If-Range")
    func breaks() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000), .cut(after: 5_000_000, .reset)])
            let (outcome, output) = try await get("/a", shop)
            #expect(try outcome.file.proof == .strong)
            shop.expect(output, is: resource)
            #expect(shop.server.requests.dropFirst().allSatisfy { $0.range != nil && $0.ifRange == resource.etag })
        }
    }

    @Test("Stream: when the server ignores ranges, bytes already written are skipped")
    func ignoresRanges() async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: 10_000_000)
            resource.ranges = .ignored
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000)])
            let (_, output) = try await get("/a", shop)
            shop.expect(output, is: resource)
        }
    }

    @Test("Stream: a changed file is an error, and only bytes of the old file are written")
    func changed() async throws {
        try await Workshop.run { shop in
            let old = Resource(size: 10_000_000)
            shop.server.serve("/a", old)
            shop.server.script(
                "/a", [.cut(after: 5_000_000)], then: .version { $0 = Resource(size: 10_000_000, seed: 9) })
            let (outcome, output) = try await get("/a", shop)
            #expect(outcome.error?.code == .remoteChanged, "\(String(describing: outcome.error))")
            let size = try #require(try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int64)
            #expect(size > 0 && size <= 5_000_000)
            #expect(old.source.compare(file: output, size: size) == .equal)
        }
    }

    @Test(
        "Stream: a break without a validator is an error, and written bytes are of the file", arguments: [false, true])
    func noValidator(resumesUnproven: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 10_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000)])
            let (outcome, output) = try await get("/a", shop) { $0.trust.resumesUnproven = resumesUnproven }
            #expect(outcome.error?.code == .notResumable)
            // The option compares samples, which an output does not have.
            #expect(
                outcome.error?.message.contains("--resume-unproven") == false, "\(String(describing: outcome.error))")
            let size = try #require(try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int64)
            #expect(resource.source.compare(file: output, size: size) == .equal)
        }
    }

    @Test("Stream: the written bytes are compared with the given digest", arguments: [true, false])
    func digest(isRight: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 1_000_000)])
            let checksum = try Checksum(parsing: isRight ? "sha256:" + shop.sha256(resource) : DigestTests.wrong)
            let (outcome, output) = try await get("/a", shop) { $0.checksum = checksum }
            if isRight {
                #expect(try outcome.file.proof == .digest)
            } else {
                #expect(outcome.error?.code == .checksum)
            }
            shop.expect(output, is: resource)
        }
    }
}
