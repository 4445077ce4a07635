import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("A listed download that is requested again", .timeLimit(.minutes(30)))
struct DuplicateTests {
    private static let wrong = Checksum(algorithm: .sha256, bytes: [UInt8](repeating: 1, count: 32))

    private func right(_ resource: Resource, _ shop: Workshop) throws -> Checksum {
        try Checksum(parsing: "sha256:" + shop.sha256(resource))
    }

    @Test("Requested again: the new checksum counts, whatever the listed state", arguments: [true, false])
    func checksum(isPaused: Bool) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(after: 1_000_000, gate)])
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, first)
            if isPaused { try await first.pause() }
            let again = try await manager.download(try shop.single("/a") { $0.checksum = Self.wrong })
            #expect(again == first)
            gate.open()
            if isPaused {
                #expect(first.status.state == .paused)
                try await first.resume()
            }
            #expect(await shop.code { _ = try await first.finished() } == .checksum)
            #expect(!shop.files.contains("a"))
            // A corrected checksum takes effect too, and the received bytes are compared with it.
            let right = try right(resource, shop)
            let corrected = try await manager.download(try shop.single("/a") { $0.checksum = right })
            #expect(corrected == first)
            let file = try await corrected.finished()
            #expect(file.proof == .digest && file.checksum == right)
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Requested again: a finished file is compared with a new checksum, and fetched again if it differs")
    func finishedFile() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            #expect(try await first.finished().proof != .digest)
            let requests = shop.server.requests.count
            let right = try right(resource, shop)
            for _ in 0..<2 {
                let again = try await manager.download(try shop.single("/a") { $0.checksum = right })
                let file = try await again.finished()
                #expect(file.proof == .digest && file.checksum == right && !file.wasAlreadyComplete)
                #expect(again.status.state == .completed(.digest))
            }
            #expect(shop.server.requests.count == requests)
            // Another checksum is not fulfilled: the file on the server does not have it either. The earlier file stays.
            let other = try await manager.download(try shop.single("/a") { $0.checksum = Self.wrong })
            #expect(await shop.code { _ = try await other.finished() } == .checksum)
            #expect(shop.server.requests.count > requests)
            shop.expect(shop.path("a"), is: resource)
            await manager.shutdown()
        }
    }

    @Test("Requested again: the server's new file with the new checksum replaces the finished one")
    func newFile() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            _ = try await manager.download(try shop.single("/a")).finished()
            let new = Resource(size: 3_000_000, seed: 7)
            shop.server.serve("/a", new)
            let checksum = try right(new, shop)
            let again = try await manager.download(try shop.single("/a") { $0.checksum = checksum })
            #expect(try await again.finished().path == shop.path("a"))
            shop.expect(shop.path("a"), is: new)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Requested again: a finished file of another size than required is not returned")
    func size() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            _ = try await manager.download(try shop.single("/a")).finished()
            let larger = try await manager.download(try shop.single("/a") { $0.expectedBytes = resource.size + 1 })
            #expect(await shop.code { _ = try await larger.finished() } != nil)
            shop.expect(shop.path("a"), is: resource)
            await manager.shutdown()
        }
    }

    @Test("Requested again: a download that waits for credentials gets those of the new request")
    func credentials() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .basicAuth("ann", "hush"))
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(first) { $0 == .waiting(.credentials) }
            let again = try await manager.download(
                try shop.single("/a") { $0.credentials = Credentials(user: "ann", password: "hush") })
            #expect(again == first)
            try await shop.expectAll([first], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Requested again within one call: both requests count")
    func oneCall() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .basicAuth("ann", "hush"))
            let manager = shop.kept()
            let right = try right(resource, shop)
            let both = try await manager.download([
                try shop.single("/a") { $0.credentials = Credentials(user: "ann", password: "hush") },
                try shop.single("/a") { $0.checksum = right },
            ])
            #expect(both[0] == both[1])
            #expect(try await both[0].finished().proof == .digest)
            await manager.shutdown()
        }
    }

    @Test("Requested again: limits apply while the download runs, and its identity and place in the list stay")
    func limits() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(after: 1_000_000, gate)])
            let manager = shop.kept()
            let first = try await manager.download(
                try shop.single("/a") { ($0.label, $0.priority, $0.userInfo) = ("mine", .high, ["k": "v"]) })
            await shop.reach(1_000_000, first)
            let requests = shop.server.requests.count
            _ = try await manager.download(
                try shop.single("/a") {
                    ($0.rateLimit, $0.label, $0.priority, $0.userInfo) = (50_000_000, "yours", .low, ["k": "w"])
                    ($0.startsPaused, $0.notBefore) = (true, Date(timeIntervalSinceNow: 3600))
                })
            let request = first.request
            #expect(request.rateLimit == 50_000_000)
            #expect(request.label == "mine" && request.priority == .high && request.userInfo == ["k": "v"])
            gate.open()
            try await shop.expectAll([first], are: resource)
            #expect(shop.server.requests.count == requests)
            await manager.shutdown()
        }
    }
}
