import FerryTesting
import FerryUI
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Foundation's Progress of a download", .timeLimit(.minutes(30)))
struct FoundationProgressTests {
    private static let resource = Resource(size: 3_000_000)

    @Test("Progress: it counts bytes, and its pause and resume act on the download")
    func pauses() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(1_000_000, download)
            let progress = download.makeProgress()
            #expect(progress.totalUnitCount == 3_000_000)
            #expect(progress.completedUnitCount == 1_000_000)
            #expect(progress.isPausable && progress.isCancellable)
            #expect((progress.userInfo[.fileURLKey] as? URL)?.lastPathComponent == "a")
            progress.pause()
            await shop.reach(download) { $0 == .paused }
            #expect(download.status.state == .paused)
            progress.resume()
            _ = try await download.finished()
            // The last status is set by a task, as every other.
            while progress.completedUnitCount < 3_000_000 { await Task.yield() }
            #expect(progress.fractionCompleted == 1)
            await manager.shutdown()
        }
    }

    @Test("Progress: its cancel cancels the download")
    func cancels() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            shop.server.always("/a", .stall(after: 1_500_000))
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(1_500_000, download)
            let progress = download.makeProgress()
            progress.cancel()
            await #expect(throws: DownloadError.self) { try await download.finished() }
            #expect(download.status.state == .cancelled)
            #expect(progress.isCancelled)
            await manager.shutdown()
            #expect(shop.names == [])
        }
    }

    @Test("Progress: its release releases a paused download and its manager")
    func released() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            var manager: DownloadManager? = shop.lasting()
            var download = try await manager?.download(shop.request("/a") { $0.startsPaused = true })
            let events = try #require(manager?.events)
            var progress = download?.makeProgress()
            #expect(progress?.completedUnitCount == 0)
            download = nil
            manager = nil
            progress = nil
            for await _ in events {}
        }
    }
}
