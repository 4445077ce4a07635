import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Clear and remove", .timeLimit(.minutes(30)))
struct ClearingTests {
    /// Downloads that are completed, failed with bytes, cancelled, and paused with bytes.
    private struct Cast {
        let manager: DownloadManager
        let completed: [Download]
        let failed: Download
        let cancelled: Download
        let paused: Download
        let resource: Resource
        var all: Set<DownloadID> { Set((completed + [failed, cancelled, paused]).map(\.id)) }
    }

    private func cast(_ shop: Workshop) async throws -> Cast {
        let resource = shop.serve(["/a", "/b", "/gone"])
        shop.serve(["/fail"])
        shop.server.script("/fail", [.cut(after: 1_000_000)], then: .status(503))
        shop.serve(["/pause"], [.stall(after: 2_000_000)])
        let manager = shop.kept(engine: shop.engine()) { $0.maxRetries = 1 }
        let completed = try await manager.download(["/a", "/b"].map { try shop.single($0) })
        try await shop.expectAll(completed, are: resource)
        let failed = try await manager.download(try shop.single("/fail"))
        #expect(await shop.code { _ = try await failed.finished() } != nil)
        let cancelled = try await manager.download(try shop.single("/gone") { $0.startsPaused = true })
        try await cancelled.cancel()
        let paused = try await manager.download(try shop.single("/pause"))
        await shop.reach(2_000_000, paused)
        try await paused.pause()
        try shop.write("mine", to: "unlisted")
        #expect(shop.files == ["a", "b", "fail.part", "fail.part.ferry", "pause.part", "pause.part.ferry", "unlisted"])
        return Cast(
            manager: manager, completed: completed, failed: failed, cancelled: cancelled, paused: paused,
            resource: resource)
    }

    private func listed(_ cast: Cast) async throws -> Set<DownloadID> {
        Set(try await cast.manager.downloads().map(\.id))
    }

    @Test(
        "Clear: each filter removes what ended so, with a failed one's part file, and no others",
        arguments: ClearFilter.allCases)
    func filters(filter: ClearFilter) async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            try await cast.manager.clear(filter)
            var left = cast.all
            var files = ["a", "b", "fail.part", "fail.part.ferry", "pause.part", "pause.part.ferry", "unlisted"]
            if filter == .completed || filter == .all { left.subtract(cast.completed.map(\.id)) }
            if filter == .cancelled || filter == .all { left.remove(cast.cancelled.id) }
            if filter == .failed || filter == .all {
                left.remove(cast.failed.id)
                files.removeAll { $0.hasPrefix("fail") }
            }
            #expect(try await listed(cast) == left)
            #expect(shop.files == files)
            #expect(cast.paused.status.state == .paused)
            await cast.manager.shutdown()
        }
    }

    @Test("Clear: after a relaunch all ended downloads are removed, without a handle")
    func quiet() async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            await cast.manager.shutdown()
            let next = shop.kept()
            try await next.clear(.all)
            #expect(try await next.downloads().map(\.id) == [cast.paused.id])
            #expect(shop.files == ["a", "b", "pause.part", "pause.part.ferry", "unlisted"])
            await next.shutdown()
            let last = shop.kept()
            #expect(try await last.downloads().map(\.id) == [cast.paused.id])
            await last.shutdown()
        }
    }

    @Test("Clear: with files it deletes completed files, but no replaced file and no directory")
    func deleting() async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            try FileManager.default.removeItem(atPath: shop.path("a"))
            try shop.write("mine", to: "a")
            let third = try await cast.manager.download(try shop.single("/gone") { $0.onDuplicate = .addAnother })
            try await shop.expectAll([third], are: cast.resource)
            try FileManager.default.removeItem(atPath: shop.path("gone"))
            try FileManager.default.createDirectory(atPath: shop.path("gone"), withIntermediateDirectories: false)
            try shop.write("inside", to: "gone/file")
            try await cast.manager.clear(.completed, deletingFiles: true)
            #expect(try await listed(cast) == [cast.failed.id, cast.cancelled.id, cast.paused.id])
            #expect(shop.text("a") == "mine")
            #expect(shop.text("gone/file") == "inside")
            #expect(shop.text("unlisted") == "mine")
            #expect(!shop.files.contains("b"))
            await cast.manager.shutdown()
        }
    }

    @Test("Remove: with its file a download with appended bytes is a conflict, without it is removed")
    func appended() async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            let handle = try #require(FileHandle(forWritingAtPath: shop.path("a")))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("more".utf8))
            try handle.close()
            let first = cast.completed[0]
            #expect(await shop.code { try await first.remove(deletingFile: true) } == .conflict)
            #expect(shop.files.contains("a"))
            #expect(try await listed(cast).contains(first.id))
            try await first.remove()
            #expect(shop.files.contains("a"))
            #expect(try await !listed(cast).contains(first.id))
            await cast.manager.shutdown()
        }
    }

    @Test("Remove: a completed file is deleted on request, and part files always")
    func removing() async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            try await cast.completed[0].remove()
            #expect(shop.files.contains("a"))
            try await cast.completed[1].remove(deletingFile: true)
            #expect(!shop.files.contains("b"))
            try await cast.failed.remove()
            try await cast.paused.remove(deletingFile: true)
            try await cast.cancelled.remove(deletingFile: true)
            #expect(shop.files == ["a", "unlisted"])
            #expect(try await listed(cast).isEmpty)
            await cast.manager.shutdown()
        }
    }

    @Test("Remove: a completed download with a missing file is removed")
    func goneAlready() async throws {
        try await Workshop.run { shop in
            let cast = try await cast(shop)
            try FileManager.default.removeItem(atPath: shop.path("a"))
            try await cast.completed[0].remove(deletingFile: true)
            #expect(try await !listed(cast).contains(cast.completed[0].id))
            await cast.manager.shutdown()
        }
    }

    @Test("Remove: a running download is cancelled and its part file deleted")
    func running() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let events = manager.events
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            try await download.remove()
            #expect(download.status.state == .cancelled)
            #expect(shop.files == [])
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
            #expect(await shop.told(events).map(\.kind).contains(.cancelled))
        }
    }

    @Test("Clear: an ephemeral manager deletes completed files, but no replaced file")
    func ephemeral() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.manager()
            let downloads = try await manager.download(["/a", "/b"].map { try shop.single($0) })
            try await shop.expectAll(downloads, are: resource)
            try FileManager.default.removeItem(atPath: shop.path("b"))
            try shop.write("mine", to: "b")
            try await manager.clear(.completed, deletingFiles: true)
            #expect(shop.names == ["b"])
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
        }
    }
}
