import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("A fresh download", .timeLimit(.minutes(30)))
struct FreshDownloadTests {
    @Test(
        "brings every byte, under the URL's name, and leaves nothing beside it",
        arguments: [0, 1, 10_240, 1_048_575, 1_048_576, 30_000_000] as [Int64])
    func whole(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size, seed: 3)
            shop.server.serve("/file.bin", resource)
            let file = try await shop.get("/file.bin").file
            #expect(file.path == shop.directory + "/file.bin")
            #expect(file.totalBytes == size)
            #expect(shop.names == ["file.bin"])
            shop.expect(file.path, is: resource)
        }
    }

    @Test("in one response is proven single")
    func single() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            let file = try await shop.get("/a", { _ in }, { $0.maxConnections = 1 }).file
            #expect(file.proof == .single)
        }
    }

    @Test("carries the server's time and the source attribute, so that a second run fetches nothing")
    func again() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let first = try await shop.get("/a").file
            let attributes = try FileManager.default.attributesOfItem(atPath: first.path)
            #expect(attributes[.modificationDate] as? Date == Resource.defaultDate)
            let sent = shop.server.bodyBytes()
            let second = try await shop.get("/a").file
            #expect(second.wasAlreadyComplete)
            #expect(second.path == first.path)
            #expect(shop.server.bodyBytes() == sent)
            #expect(shop.server.requests.last?.status == 304)
            #expect(shop.names == ["a"])
        }
    }

    @Test("of a file that changed since the last run gets the next free name")
    func changedSince() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 3_000_000))
            _ = try await shop.get("/a.bin")
            let new = Resource(size: 3_000_001, seed: 9)
            shop.server.serve("/a.bin", new)
            let file = try await shop.get("/a.bin").file
            #expect(file.path == shop.directory + "/a (1).bin")
            shop.expect(file.path, is: new)
        }
    }

    /// How many are used depends on the speed of the machine; that the count is found is shown with the machine's own
    /// clock, in `TransferMachineScenarioTests`. Counted on this side: the server may hear of the end of one connection
    /// only after the beginning of the next, and counted seventeen once on a busy machine.
    @Test(
        "never uses more connections than allowed, and joins parts only under a strong validator",
        arguments: [1, 4, 16])
    func connections(limit: Int) async throws {
        var configuration = OriginServer.Configuration()
        configuration.connectionRate = 6_000_000
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 64_000_000)
            shop.server.serve("/a", resource)
            let transport = CountingTransport(HTTPTransport(TransferSettings()))
            let engine = shop.engine(transport: transport)
            let file = try await shop.get("/a", engine: engine, { _ in }, { $0.maxConnections = limit }).file
            shop.expect(file.path, is: resource)
            let traffic = shop.server.traffic
            #expect(transport.peak <= limit)
            #expect(file.proof == (traffic.requestCount == 1 ? .single : .strong))
            #expect(transport.bodyBytes < resource.size + resource.size / 4)
        }
    }

    @Test("of an unknown length is complete at the last chunk")
    func chunked() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 5_000_000, framing: .chunked(10_000))
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            #expect(file.proof == .single)
            shop.expect(file.path, is: resource)
        }
    }

    @Test("that ends by close is taken, and marked as proving nothing (A26)")
    func close() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 5_000_000, framing: .close)
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            #expect(file.proof == .none)
            shop.expect(file.path, is: resource)
        }
    }

    @Test(
        "with the right digest is proven by it; with the wrong one it is never published",
        arguments: [500_000, 3_000_000] as [Int64])
    func digest(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a", resource)
            let right = try Checksum(parsing: "sha256:" + resource.sha256)
            let file = try await shop.get("/a", { _ in }, { $0.checksum = right }).file
            #expect(file.proof == .digest)
            let wrong = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            let outcome = try await shop.get(
                "/a", { _ in },
                {
                    $0.checksum = wrong
                    $0.destination = .file(shop.directory + "/b")
                })
            #expect(outcome.error?.code == .checksum)
            #expect(shop.names == ["a", "b.part", "b.part.ferry"])
        }
    }

    @Test("of several at once keeps to the limit and finishes all")
    func several() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager { $0.maxConcurrentDownloads = 2 }
            var downloads: [Download] = []
            for index in 0..<8 {
                shop.server.serve("/f\(index)", Resource(size: 2_000_000, seed: UInt64(index)))
                downloads.append(try await manager.download(try shop.request("/f\(index)") { $0.maxConnections = 1 }))
            }
            for (index, download) in downloads.enumerated() {
                let file = try await download.finished()
                shop.expect(file.path, is: Resource(size: 2_000_000, seed: UInt64(index)))
            }
            await manager.shutdown()
            #expect(shop.server.traffic.peakRequests <= 2)
        }
    }

    @Test("of two files with the same name at once gets two names")
    func sameName() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager()
            shop.server.serve("/x/foo", Resource(size: 3_000_000, seed: 1))
            shop.server.serve("/y/foo", Resource(size: 3_000_000, seed: 2))
            let first = try await manager.download(try shop.request("/x/foo"))
            let second = try await manager.download(try shop.request("/y/foo"))
            let paths = [try await first.finished().path, try await second.finished().path]
            await manager.shutdown()
            #expect(Set(paths) == [shop.directory + "/foo", shop.directory + "/foo (1)"])
            shop.expect(paths[0], is: Resource(size: 3_000_000, seed: 1))
            shop.expect(paths[1], is: Resource(size: 3_000_000, seed: 2))
        }
    }
}
