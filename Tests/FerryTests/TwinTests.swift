import Ferry
import FerryTesting
import Foundation
import Testing

/// Servers that cannot be asked whether their file is still the same.
@Suite("Repeated runs without a usable validator", .timeLimit(.minutes(30)))
struct TwinTests {
    private static let never = Date(timeIntervalSince1970: 253_402_300_000)

    @Test(
        "Repeated run: equal bytes of a server without length or validator leave no copy, other bytes get another name (A69)",
        arguments: [0, 300_000, 3_000_000] as [Int64])
    func twice(size: Int64) async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: size, lastModified: nil)
            (resource.etag, resource.framing) = (nil, .chunked(65_536))
            shop.server.serve("/a.bin", resource)
            for run in 0..<3 {
                let file = try await shop.get("/a.bin").file
                #expect(file.wasAlreadyComplete == (run > 0))
                shop.expect(file.path, is: resource)
                #expect(shop.names == ["a.bin"])
            }
            guard size > 0 else { return }
            var other = Resource(size: size, seed: 2, lastModified: nil)
            (other.etag, other.framing) = (nil, resource.framing)
            shop.server.serve("/a.bin", other)
            for run in 0..<2 {
                let file = try await shop.get("/a.bin").file
                #expect(file.wasAlreadyComplete == (run > 0))
                shop.expect(file.path, is: other)
                #expect(shop.names == ["a (1).bin", "a.bin"])
            }
        }
    }

    @Test(
        "Repeated run: equal bytes leave no copy if Last-Modified is always now, or later than any file's date",
        arguments: [0, 3_000_000] as [Int64], [true, false])
    func dates(size: Int64, isNow: Bool) async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: size, lastModified: Self.never)
            resource.etag = nil
            shop.server.serve("/a.bin", resource)
            if isNow { shop.server.always("/a.bin", .lastModifiedNow) }
            for run in 0..<3 {
                let file = try await shop.get("/a.bin").file
                #expect(file.wasAlreadyComplete == (run > 0))
                shop.expect(file.path, is: resource)
                #expect(shop.names == ["a.bin"])
            }
        }
    }

    @Test("Repeated run: the file of another URL with equal bytes stays, and each URL has its own")
    func otherURL() async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: 300_000, lastModified: nil)
            (resource.etag, resource.framing) = (nil, .chunked(65_536))
            for path in ["/x/a.bin", "/y/a.bin"] {
                shop.server.serve(path, resource)
                let outcome = try await shop.get(path)
                #expect(try outcome.file.wasAlreadyComplete == false)
            }
            #expect(shop.names == ["a (1).bin", "a.bin"])
        }
    }
}
