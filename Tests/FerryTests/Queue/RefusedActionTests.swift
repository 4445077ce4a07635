import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// An action that the list refuses is neither executed nor reported as done.
@Suite("Actions that the catalogue refuses", .timeLimit(.minutes(30)))
struct RefusedActionTests {
    /// One running and one waiting download, while the catalogue refuses that state.
    private func refusing(
        _ state: String,
        _ body:
            @escaping @Sendable (Workshop, DownloadManager, _ running: Download, _ waiting: Download) async throws ->
            Void
    ) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"])
            shop.server.script("/a", [.hold(after: 1_000_000, gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let running = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, running)
            let waiting = try await manager.download(try shop.single("/b"))
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state = '\(state)'", in: manager)
            try await body(shop, manager, running, waiting)
            for download in [running, waiting] {
                #expect(![.paused, .cancelled].contains(download.status.state.kind))
            }
            gate.open()
            try await shop.expectAll([running, waiting], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Pause: refused by the catalogue, it throws its error and the download goes on")
    func paused() async throws {
        try await refusing("paused") { shop, _, running, waiting in
            #expect(await shop.code { try await waiting.pause() } == .catalogue)
            #expect(waiting.status.state == .waiting(.slot))
            #expect(await shop.code { try await running.pause() } == .catalogue)
        }
    }

    @Test("Pause all: refused by the catalogue, it throws its error and the downloads go on")
    func allPaused() async throws {
        try await refusing("paused") { shop, manager, _, _ in
            #expect(await shop.code { try await manager.pauseAll() } == .catalogue)
        }
    }

    @Test("Cancel: refused by the catalogue, it throws its error and the download begins again")
    func cancelled() async throws {
        try await refusing("cancelled") { shop, _, running, waiting in
            #expect(await shop.code { try await waiting.cancel() } == .catalogue)
            #expect(waiting.status.state == .waiting(.slot))
            #expect(await shop.code { try await running.cancel() } == .catalogue)
        }
    }

    @Test("Resume: refused by the catalogue, it throws its error and the download stays paused")
    func resumed() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state <> 'paused'", in: manager)
            #expect(await shop.code { try await download.resume() } == .catalogue)
            #expect(download.status.state == .paused)
            #expect(await shop.code { try await manager.resumeAll() } == .catalogue)
            #expect(download.status.state == .paused)
            #expect(shop.asked == [])
            await manager.shutdown()
        }
    }

    @Test("Restart: refused by the catalogue, it throws its error and the download stays completed, with its file")
    func restarted() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            let file = try await download.finished()
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state <> 'completed'", in: manager)
            #expect(await shop.code { try await download.restart() } == .catalogue)
            #expect(download.status.state == .completed(file.proof))
            #expect(try await download.finished() == file)
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }
}
