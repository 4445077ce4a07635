import Ferry
import FerryTesting
import Foundation
import Testing

@Suite("Resumed download", .timeLimit(.minutes(30)))
struct ResumeTests {
    @Test("Resume: a strong ETag resumes at the held offset with If-Range")
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

    @Test("Resume: with failsOnChange a changed file is an error, and part file and journal stay")
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

    @Test("Resume: under an unchanged weak ETag samples find another file, and it is fetched from the start")
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

    @Test("Resume: without a validator samples decide if the request allows that")
    func noValidator() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000, etag: nil, lastModified: nil)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000) { $0.trust.resumesUnproven = true }
            let outcome = try await shop.get("/a", { _ in }, { $0.trust.resumesUnproven = true })
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt != nil && outcome.restartReason == nil)
        }
    }

    @Test("Resume: a part file with a new link to the same file is resumed")
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

    @Test("Resume: a part file with a link to another file is a conflict, and part file and journal stay")
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

    /// The journal was written with the new link and without validators: the next run lost all held bytes, and with the
    /// part file's name alone it fetched the other file in its place.
    @Test(
        "Resume: a new link that proves nothing keeps the journal, and the old link resumes",
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
            let failed = try await shop.get(link, { $0.maxRetries = 0 }, { $0.destination = part })
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

    @Test("Resume: a paused download resumes in the same manager and completes")
    func pause() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.stall(after: 6_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(6_000_000, download)
            try await download.pause()
            #expect(download.status.state == .paused)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            try await download.resume()
            let file = try await download.finished()
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Cancel: a running download leaves no file")
    func cancel() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.stall(after: 6_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(6_000_000, download)
            try await download.cancel()
            #expect(download.status.state == .cancelled)
            #expect(shop.names == [])
            await manager.shutdown()
        }
    }
}
