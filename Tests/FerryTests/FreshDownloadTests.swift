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

    @Test("Fresh download: a file from one response has the proof `single`")
    func single() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            let file = try await shop.get("/a", { _ in }, { $0.maxConnections = 1 }).file
            #expect(file.proof == .single)
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

    @Test("Fresh download: a chunked body of unknown length is complete at the last chunk")
    func chunked() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 5_000_000, framing: .chunked(10_000))
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            #expect(file.proof == .single)
            shop.expect(file.path, is: resource)
        }
    }

    @Test("Fresh download: a body that ends by connection close is kept with the proof `none` (A26)")
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
        "Fresh download: a right digest is the proof, and a wrong one keeps the file from being published",
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

    @Test("Download manager: eight downloads with a limit of two finish with at most two requests at a time")
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

    @Test("Download manager: two files with one name fetched at the same time get two names")
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
