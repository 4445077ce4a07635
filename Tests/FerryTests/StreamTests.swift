import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("A stream", .timeLimit(.minutes(30)))
struct StreamTests {
    /// Downloads to a descriptor of a file; gives what is there at the end.
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
        "gets the file in order over one connection, and nothing else is written",
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

    @Test("goes on by Range and validator after a break, repeating nothing")
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

    @Test("reads over what was written when the server ignores ranges")
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

    @Test("ends with an error when the file changed, never with a mixture")
    func changed() async throws {
        try await Workshop.run { shop in
            let old = Resource(size: 10_000_000)
            shop.server.serve("/a", old)
            shop.server.script(
                "/a", [.cut(after: 5_000_000)], then: .version { $0 = Resource(size: 10_000_000, seed: 9) })
            let (outcome, output) = try await get("/a", shop)
            #expect(outcome.error?.code == .remoteChanged)
            let size = try #require(try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int64)
            #expect(size > 0 && size <= 5_000_000)
            #expect(old.source.compare(file: output, size: size) == .equal)
        }
    }

    @Test("that breaks without a validator ends with an error")
    func noValidator() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 10_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000)])
            let (outcome, output) = try await get("/a", shop)
            #expect(outcome.error != nil)
            let size = try #require(try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int64)
            #expect(resource.source.compare(file: output, size: size) == .equal)
        }
    }

    @Test("is compared with a digest", arguments: [true, false])
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
