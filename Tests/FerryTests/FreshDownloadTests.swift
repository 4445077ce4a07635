import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Fresh download", .timeLimit(.minutes(30)))
struct FreshDownloadTests {
    @Test(
        "Fresh download: every byte arrives under the URL's name, and no other file is left",
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

    @Test("Fresh download: modification time and source attribute let a second run fetch nothing")
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

    @Test("Fresh download: a file that changed since the last run gets the next free name")
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

    /// The number of connections in use depends on the machine's speed; `TransferMachineScenarioTests` shows that the
    /// best number is found. Counted by the client: the server may see the end of a connection only after the start of
    /// the next, and has counted seventeen on a busy machine.
    @Test(
        "Fresh download: connections stay within the limit, and several give the proof `strong`",
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

    @Test(
        "Fresh download: a chunked body is complete at its last chunk, one that ends by connection close is not proven (A26)",
        arguments: [(Resource.Framing.chunked(10_000), Proof.single), (.close, .none)])
    func unknownLength(framing: Resource.Framing, proof: Proof) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 5_000_000, framing: framing)
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            #expect(file.proof == proof)
            shop.expect(file.path, is: resource)
        }
    }
}
