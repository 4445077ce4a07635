import Ferry
import FerryTesting
import Foundation
import Testing

@Suite("A resumed download", .timeLimit(.minutes(30)))
struct ResumeTests {
    @Test("goes on where it was, under its strong ETag")
    func strong() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            let outcome = try await shop.get("/a")
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .strong)
            #expect(outcome.resumedAt == 10_000_000)
            #expect(file.etag == resource.etag)
            #expect(file.lastModified != nil)
            #expect(file.contentType == resource.contentType)
            #expect(
                shop.server.requests.contains { $0.ifRange == resource.etag && $0.range == "bytes=10000000-39999999" })
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "begins again, and says why, when the file changed (A13); the old bytes stay until the new ones are published")
    func changed() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 10_000_000)
            let new = Resource(
                size: 40_000_000, seed: 7, lastModified: Resource.defaultDate.addingTimeInterval(1000))
            shop.server.serve("/a", new)
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: new)
            #expect(outcome.restartReason?.contains("ETag") == true)
            #expect(shop.names == ["a"])
        }
    }

    @Test("with --no-restart fails on a change and leaves everything")
    func noRestart() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 10_000_000)
            shop.server.serve("/a", Resource(size: 40_000_000, seed: 7))
            let outcome = try await shop.get("/a", { _ in }, { $0.trust.failsOnChange = true })
            #expect(outcome.error?.code == .remoteChanged)
            #expect(shop.names == ["a.part", "a.part.ferry"])
        }
    }

    @Test("under a weak ETag compares samples first (A15)")
    func weak() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000, etag: "W/\"1\"", lastModified: nil)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            let outcome = try await shop.get("/a")
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.proof == .sampled)
            #expect((outcome.resumedAt ?? 0) > 0)
        }
    }

    @Test("under a weak ETag that lies is found out by the samples")
    func weakLie() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000, etag: "W/\"1\"", lastModified: nil))
            try await shop.interrupt("/a", after: 10_000_000)
            let new = Resource(size: 40_000_000, seed: 5, etag: "W/\"1\"", lastModified: nil)
            shop.server.serve("/a", new)
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: new)
            #expect(outcome.restartReason?.contains("samples") == true)
        }
    }

    @Test("without any validator begins again, unless samples are allowed to decide", arguments: [false, true])
    func noValidator(allows: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000) { $0.trust.resumesUnproven = allows }
            let outcome = try await shop.get("/a", { _ in }, { $0.trust.resumesUnproven = allows })
            try shop.expect(outcome.file.path, is: resource)
            #expect((outcome.resumedAt != nil) == allows)
            #expect((outcome.restartReason != nil) == !allows)
        }
    }

    @Test("from a server that ignores ranges keeps what it has and reads over it (A1)")
    func ignoresRange() async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            resource.ranges = .ignored
            shop.server.serve("/a", resource)
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
        }
    }

    @Test("within one run goes on after the connection broke (A21)")
    func broken() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.cut(after: 5_000_000, .reset), .cut(after: 5_000_000)])
            let outcome = try await shop.get("/a", { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count == 3)
            #expect(outcome.restartReason == nil)
            // Beginning again twice would be 30 MB; what sockets held is lost.
            #expect(shop.server.bodyBytes() < 28_000_000)
        }
    }

    @Test("waits as the server wishes after a 503, and goes on (A38)")
    func busy() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 2_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.status(503, retryAfter: "0")])
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: resource)
        }
    }

    @Test("by its part file and a new link takes the link with proof")
    func newLink() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            shop.server.remove("/a")
            let dead = try await shop.get("/a")
            #expect(dead.error?.code == .freshLink)
            shop.server.serve("/other/path?token=1", resource)
            let part = shop.directory + "/a.part"
            let outcome = try await shop.get("/other/path?token=1", { _ in }, { $0.destination = .part(part) })
            let file = try outcome.file
            #expect(file.path == shop.directory + "/a")
            shop.expect(file.path, is: resource)
            #expect((outcome.resumedAt ?? 0) > 0)
        }
    }

    @Test("by a new link to another file is a conflict that leaves everything")
    func wrongLink() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 10_000_000)
            shop.server.serve("/b", Resource(size: 40_000_000, seed: 8))
            let outcome = try await shop.get("/b", { _ in }, { $0.destination = .part(shop.directory + "/a.part") })
            #expect(outcome.error?.code == .conflict)
            #expect(shop.names == ["a.part", "a.part.ferry"])
        }
    }

    /// The journal was written with the link and without the validators: all that was held was lost at the next run,
    /// and by the part's name alone the other file was fetched in its place.
    @Test(
        "by a new link that proves nothing leaves what is known of the file, so that the old link goes on",
        arguments: ["/b", "/gone", "/broken"], [false, true])
    func uselessLink(link: String, byPart: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            shop.server.serve("/b", Resource(size: 40_000_000, seed: 8))
            shop.server.serve("/broken", resource)
            shop.server.always("/broken", .drop())
            let part = DownloadRequest.Destination.part(shop.directory + "/a.part")
            let failed = try await shop.get(link, { $0.maxAttempts = 0 }, { $0.destination = part })
            #expect(failed.error != nil)
            let outcome: Workshop.Outcome
            if byPart {
                outcome = try await shop.outcome(
                    of: shop.manager(), DownloadRequest(sources: [], destination: part))
            } else {
                outcome = try await shop.get("/a")
            }
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(outcome.resumedAt == 10_000_000)
            #expect(file.proof == .strong)
            #expect(!shop.server.requests.suffix(1).contains { $0.head.target == link })
        }
    }

    @Test("after a pause goes on in the same manager, and its first progress is the offset")
    func pause() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.stall(after: 6_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(6_000_000, download)
            await download.pause()
            #expect(download.status.state == .paused)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            await download.resume()
            let file = try await download.finished()
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("that was cancelled leaves nothing")
    func cancel() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.stall(after: 6_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(6_000_000, download)
            await download.cancel()
            #expect(download.status.state == .cancelled)
            #expect(shop.names == [])
            await manager.shutdown()
        }
    }

    @Test("of a server that takes only K connections finds K and loses nothing (A46)")
    func limited() async throws {
        var configuration = OriginServer.Configuration()
        configuration.connectionRate = 5_000_000
        configuration.limit = ConnectionLimit(3, .reset)
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 60_000_000)
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            shop.expect(file.path, is: resource)
        }
    }

    @Test("of a single-threaded server finishes (A48)")
    func singleThreaded() async throws {
        var configuration = OriginServer.Configuration()
        configuration.connectionRate = 20_000_000
        configuration.limit = ConnectionLimit(1, .wait)
        try await Workshop.run(configuration) { shop in
            let resource = Resource(size: 60_000_000)
            shop.server.serve("/a", resource)
            let file = try await shop.get("/a").file
            shop.expect(file.path, is: resource)
        }
    }
}
