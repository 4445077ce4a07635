import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Pause and cancel", .timeLimit(.minutes(30)))
struct StopTests {
    @Test("Pause: before the first response it leaves no file, and the download resumes")
    func beforeHead() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            let gate = Gate()
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.hold(gate)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            await gate.arrived()
            try await download.pause()
            #expect(download.status.state == .paused)
            #expect(shop.names == [])
            try await download.resume()
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
            gate.open()
        }
    }

    @Test("Pause: during verifying it takes effect, and the file is verified again after resume")
    func verifying() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/a", resource)
            let handle = Mutex<Download?>(nil)
            let disk = FaultyFileSystem { operation, path in
                if operation == .read, path.string.hasSuffix("/a.part") {
                    handle.withLock { $0?.live.driver?.stop(.pause) }
                }
                return nil
            }
            let manager = shop.manager(engine: shop.engine(fileSystem: disk))
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let download = try await manager.download(
                try shop.request("/a") {
                    $0.checksum = checksum
                    $0.maxConnections = 1
                })
            handle.withLock { $0 = download }
            await shop.reach(download) { $0 == .paused }
            #expect(download.status.state == .paused)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            handle.withLock { $0 = nil }
            let sent = shop.server.bodyBytes()
            try await download.resume()
            let file = try await download.finished()
            #expect(file.proof == .digest)
            #expect(shop.server.bodyBytes() - sent < 12_000_000)
            await manager.shutdown()
        }
    }

    @Test("Cancel: during a disk failure it still deletes part file and journal")
    func cancelWhileFailing() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 20_000_000))
            let handle = Mutex<Download?>(nil)
            let disk = FaultyFileSystem { operation, path in
                guard operation == .write, path.string.hasSuffix("/a.part") else { return nil }
                handle.withLock { $0?.live.driver?.stop(.cancel) }
                return .noSpace
            }
            let manager = shop.manager(engine: shop.engine(fileSystem: disk)) { $0.maxConcurrentDownloads = 1 }
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let download = try await manager.download(try shop.request("/a"))
            handle.withLock { $0 = download }
            gate.open()
            await shop.reach(download) { _ in false }
            #expect(download.status.state == .cancelled)
            #expect(shop.names == [])
            await manager.shutdown()
        }
    }

    @Test("Shutdown: a wait for the end of a paused download ends with the error shutDown")
    func waitForPaused() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.stall(after: 5_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(5_000_000, download)
            try await download.pause()
            async let end: Result<FinishedDownload, DownloadError> = {
                () async -> Result<FinishedDownload, DownloadError> in
                do throws(DownloadError) { return .success(try await download.finished()) } catch {
                    return .failure(error)
                }
            }()
            await manager.shutdown()
            guard case .failure(let error) = await end else { Issue.record("it did not finish"); return }
            #expect(error.code == .shutDown)
        }
    }

    @Test("Pause and resume: repeated concurrent calls give the right file and one completed event")
    func again() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 30_000_000)
            shop.server.serve("/a", resource)
            shop.server.setConnectionRate(20_000_000)
            let manager = shop.manager()
            let events = manager.events
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            // On a slow machine the file may be complete before the last calls, which are refused then.
            @Sendable func call(_ action: () async throws(DownloadError) -> Void) async throws {
                do throws(DownloadError) { try await action() } catch {
                    guard error.code == .wrongState, case .completed = download.status.state else { throw error }
                }
            }
            for _ in 0..<5 {
                await shop.reach(download.status.progress.completedBytes + 1, download)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await call { () async throws(DownloadError) in try await download.pause() }
                        }
                        group.addTask {
                            try await call { () async throws(DownloadError) in try await download.resume() }
                        }
                    }
                    try await group.waitForAll()
                }
                try await call { () async throws(DownloadError) in try await download.resume() }
            }
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
            var completed = 0
            for await event in events { if case .completed = event.kind { completed += 1 } }
            #expect(completed == 1)
            #expect(shop.server.traffic.peakRequests <= 2)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Cancel: a download that an earlier run began leaves no file")
    func cancelResumed() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 5_000_000)
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            await gate.arrived()
            try await download.pause()
            #expect(download.status.progress.completedBytes == 5_000_000)
            try await download.cancel()
            #expect(download.status.state == .cancelled)
            #expect(shop.names == [])
            await manager.shutdown()
            gate.open()
        }
    }

    @Test("Cancel: the journal of a paused download is removed too if its part file is gone")
    func withoutPart() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(1_000_000, download)
            try await download.pause()
            #expect(shop.names == ["a.part", "a.part.ferry"])
            try FileManager.default.removeItem(atPath: shop.path("a.part"))
            try await download.cancel()
            #expect(shop.names == [])
            await manager.shutdown()
        }
    }

    @Test("Cancel: a download without a slot is cancelled once, and the running one completes")
    func waiting() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.serve("/b", Resource(size: 3_000_000))
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let manager = shop.manager { $0.maxConcurrentDownloads = 1 }
            let events = manager.events
            let first = try await manager.download(try shop.request("/a"))
            let second = try await manager.download(try shop.request("/b"))
            await gate.arrived()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await second.cancel() } }
                try await group.waitForAll()
            }
            await #expect(throws: DownloadError.self) { try await second.resume() }
            #expect(second.status.state == .cancelled)
            gate.open()
            _ = try await first.finished()
            await manager.shutdown()
            var cancelled = 0
            for await event in events where event.id == second.id { if case .cancelled = event.kind { cancelled += 1 } }
            #expect(cancelled == 1)
            #expect(shop.names == ["a"])
        }
    }

    @Test("Resume: progress never goes below the bytes that are held")
    func progress() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 5_000_000)
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await gate.arrived()
            #expect(download.status.state == .downloading)
            #expect(download.status.progress.completedBytes == 5_000_000)
            try await download.pause()
            let seen = Mutex<[Int64]>([])
            async let watch: Void = {
                for await status in download.updates { seen.withLock { $0.append(status.progress.completedBytes) } }
            }()
            gate.open()
            try await download.resume()
            _ = try await download.finished()
            await watch
            #expect(seen.withLock { $0.allSatisfy { $0 >= 5_000_000 } })
            #expect(seen.withLock { $0.last } == 40_000_000)
            await manager.shutdown()
        }
    }

    @Test("Existing file: the last status of an already complete download has its size")
    func existing() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 3_000_000))
            _ = try await shop.get("/a")
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            var last: DownloadStatus?
            for await status in download.updates { last = status }
            #expect(last?.progress.completedBytes == 3_000_000)
            #expect(last?.state.isFinal == true)
            await manager.shutdown()
        }
    }
}
