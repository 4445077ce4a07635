import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// Small files that are fetched without an entry in the list, and downloads that continue with the request that was sent.
@Suite("Small files without a list entry", .timeLimit(.minutes(30)))
struct SmallFetchTests {
    /// Fetches a small file; `nil` if the download must be listed from the start.
    private func fetch(_ manager: DownloadManager, _ request: DownloadRequest) async -> SmallDownload.Outcome? {
        await withCheckedContinuation { continuation in
            let download = manager.smallDownload(request) { continuation.resume(returning: $0) }
            guard let download else { return continuation.resume(returning: nil) }
            manager.start(download)
        }
    }

    /// Fetches a file like a list's reader: first without an entry, then with one if it is necessary. Also returns whether it was
    /// listed.
    private func get(
        _ shop: Workshop, _ request: DownloadRequest,
        _ configure: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) async throws -> (result: Result<FinishedDownload, DownloadError>, isListed: Bool) {
        let manager = shop.manager(configure)
        switch try #require(await fetch(manager, request)) {
        case .finished(let file, let notes):
            #expect(notes.isEmpty)
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
            return (.success(file), false)
        case .mustBeListed(let sent):
            let download = try await manager.download(request, continuing: sent)
            let result: Result<FinishedDownload, DownloadError>
            do throws(DownloadError) { result = .success(try await download.finished()) } catch {
                result = .failure(error)
            }
            await manager.shutdown()
            return (result, true)
        }
    }

    @Test(
        "A small file is fetched with one request, and a second time with a conditional one",
        arguments: [0, 1, 300_000])
    func small(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            for run in 0..<2 {
                let (result, isListed) = try await get(shop, try shop.request("/a.bin"))
                let file = try result.get()
                #expect(!isListed)
                #expect(file.wasAlreadyComplete == (run == 1))
                #expect(file.proof == (run == 0 ? .single : .strong))
                #expect(file.etag == resource.etag)
                shop.expect(file.path, is: resource)
                #expect(shop.names == ["a.bin"])
                #expect(shop.server.requests.count == run + 1)
            }
            #expect(shop.server.bodyBytes() == size)
            // A listed download finds the same file.
            let again = try await shop.get("/a.bin").file
            #expect(again.wasAlreadyComplete && again.proof == .strong)
        }
    }

    @Test("A large file continues with the response that has arrived")
    func large() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            let (result, isListed) = try await get(shop, try shop.request("/a.bin") { $0.maxConnections = 1 })
            #expect(isListed)
            shop.expect(try result.get().path, is: resource)
            #expect(shop.server.requests.count == 1)
        }
    }

    @Test("A changed file gets another name, without a second request")
    func changed() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 1000))
            _ = try await shop.get("/a.bin").file
            let new = Resource(size: 1000, seed: 2)
            shop.server.serve("/a.bin", new)
            let (result, isListed) = try await get(shop, try shop.request("/a.bin"))
            #expect(isListed)
            shop.expect(try result.get().path, is: new)
            #expect(shop.names == ["a (1).bin", "a.bin"])
            #expect(shop.server.requests.count == 2)
        }
    }

    @Test("A response that is not a plain file is judged by a run, without a second request")
    func judged() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.zip", Resource(size: 1000))
            shop.server.serve("/b.zip", Resource(size: 1000))
            shop.server.always("/a.zip", .htmlPage())
            shop.server.always("/b.zip", .document("<!doctype html><html>log in</html>", type: nil))
            for path in ["/a.zip", "/b.zip"] {
                let (result, isListed) = try await get(shop, try shop.request(path))
                #expect(isListed)
                let error = #expect(throws: DownloadError.self) { try result.get() }
                #expect(error?.phrase?.key == .pageInstead)
            }
            let (missing, isListed) = try await get(shop, try shop.request("/none"))
            #expect(isListed)
            #expect(throws: DownloadError.self) { try missing.get() }
            #expect(shop.names == [])
            #expect(shop.server.requests.count == 3)
        }
    }

    @Test("A redirect to a host without room is continued by a run, which waits for room")
    func redirected() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                let (resource, gate) = (Resource(size: 1000), Gate())
                other.serve("/b.bin", resource)
                other.serve("/busy.bin", resource)
                other.script("/busy.bin", [.hold(gate)])
                shop.server.serve("/b.bin", resource)
                shop.server.always("/b.bin", .redirect(to: other.url("/b.bin")))
                let manager = shop.manager { $0.transfer.connectionsPerHost = 1 }
                var busy = try shop.request("/b.bin")
                busy.sources = [try DownloadURL(other.url("/busy.bin"))]
                async let first = fetch(manager, busy)
                await gate.arrived()
                guard case .mustBeListed? = await fetch(manager, try shop.request("/b.bin")) else {
                    Issue.record("it had room")
                    return
                }
                gate.open()
                guard case .finished? = await first else {
                    Issue.record("the first has ended otherwise")
                    return
                }
                guard case .finished(let file, _)? = await fetch(manager, try shop.request("/b.bin")) else {
                    Issue.record("it had no room")
                    return
                }
                shop.expect(file.path, is: resource)
                await manager.shutdown()
            }
        }
    }

    @Test("A digest of the request proves the file; with another one, nothing is published")
    func digests() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 1000)
            shop.server.serve("/a.bin", resource)
            let right = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let wrong = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            let refused = try await get(shop, try shop.request("/a.bin") { $0.checksum = wrong }).result
            #expect(throws: DownloadError.self) { try refused.get() }
            #expect(!shop.names.contains("a.bin"))
            for name in shop.names { try FileManager.default.removeItem(atPath: shop.path(name)) }
            let (result, isListed) = try await get(shop, try shop.request("/a.bin") { $0.checksum = right })
            #expect(!isListed)
            #expect(try result.get().proof == .digest)
            shop.expect(try result.get().path, is: resource)
        }
    }

    @Test("A digest that the server sends is compared by a run")
    func serverDigest() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 1000)
            shop.server.serve("/a.bin", resource)
            shop.server.always("/a.bin", .reprDigest)
            let (result, isListed) = try await get(shop, try shop.request("/a.bin"))
            #expect(isListed)
            #expect(try result.get().proof == .digest)
            #expect(shop.server.requests.count == 1)
        }
    }

    @Test("An interrupted body counts as a failed attempt of the run")
    func cut() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 100_000)
            shop.server.serve("/a.bin", resource)
            shop.server.script("/a.bin", [.cut(after: 500)])
            let (result, isListed) = try await get(shop, try shop.request("/a.bin"))
            #expect(isListed)
            shop.expect(try result.get().path, is: resource)
            #expect(shop.server.requests.count == 2)
            shop.server.script("/b.bin", [.cut(after: 500)])
            shop.server.serve("/b.bin", resource)
            shop.server.script("/b.bin", [.cut(after: 500)])
            let once = try await get(shop, try shop.request("/b.bin") { $0.maxRetries = 0 }).result
            #expect(throws: DownloadError.self) { try once.get() }
            #expect(shop.server.requests.count == 3)
        }
    }

    @Test("A slow file is continued by a run, which stores the bytes that have arrived")
    func slow() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 1_000_000)
            shop.server.serve("/a.bin", resource)
            let gate = Gate()
            shop.server.script("/a.bin", [.all(.pause(.seconds(3), after: 200_000), .hold(after: 600_000, gate))])
            let manager = shop.manager()
            let request = try shop.request("/a.bin") { $0.maxConnections = 1 }
            guard case .mustBeListed(let sent)? = await fetch(manager, request) else {
                Issue.record("it was held in memory")
                return
            }
            let download = try await manager.download(request, continuing: sent)
            try await eventually { shop.names.contains("a.bin.part") }
            gate.open()
            shop.expect(try await download.finished().path, is: resource)
            #expect(shop.server.requests.count == 1)
            await manager.shutdown()
        }
    }

    @Test("A body that stalls ends the fetch, and the run fetches it again")
    func stalled() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 100_000)
            shop.server.serve("/a.bin", resource)
            shop.server.script("/a.bin", [.stall(after: 500)])
            let (result, isListed) = try await get(shop, try shop.request("/a.bin") { $0.stallTimeout = .seconds(2) })
            #expect(isListed)
            shop.expect(try result.get().path, is: resource)
        }
    }

    @Test("A shutdown ends a fetch in progress, which has published nothing")
    func shutdown() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a.bin", Resource(size: 1000))
            shop.server.script("/a.bin", [.hold(gate)])
            let manager = shop.manager()
            let request = try shop.request("/a.bin")
            async let outcome = fetch(manager, request)
            await gate.arrived()
            await manager.shutdown()
            guard case .mustBeListed? = await outcome else {
                Issue.record("it has ended otherwise")
                return
            }
            #expect(shop.names == [])
            #expect(manager.smallDownload(request) { _ in } == nil)
            gate.open()
        }
    }

    @Test("A server that is down, a part file, an object and a limit need the list from the start")
    func needsList() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 3_000_000))
            try await shop.interrupt("/a.bin", after: 1_000_000)
            let requests = shop.server.requests.count
            let manager = shop.manager()
            guard case .mustBeListed? = await fetch(manager, try shop.request("/a.bin")) else {
                Issue.record("the part file was not seen")
                return
            }
            #expect(shop.server.requests.count == requests)
            #expect(manager.smallDownload(try shop.request("/b.bin") { $0.rateLimit = 1000 }) { _ in } == nil)
            #expect(manager.smallDownload(try shop.request("/b.bin") { $0.startsPaused = true }) { _ in } == nil)
            #expect(manager.smallDownload(try shop.request("/b.bin") { $0.destination = .stream(1) }) { _ in } == nil)
            await manager.shutdown()
            let kept = DownloadManager(.default(identifier: "small", directory: shop.directory))
            #expect(kept.smallDownload(try shop.request("/b.bin")) { _ in } == nil)
            await kept.shutdown()
        }
    }
}
