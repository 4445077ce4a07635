import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// An action that the list refuses is neither executed nor reported as done.
@Suite("Actions that the catalogue refuses", .timeLimit(.minutes(30)))
struct RefusedActionTests {
    @Test("Pause: refused by the catalogue, it returns false and the download goes on")
    func paused() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"])
            shop.server.script("/a", [.hold(after: 1_000_000, gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let running = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, running)
            let waiting = try await manager.download(try shop.single("/b"))
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state = 'paused'", in: manager)
            #expect(await waiting.pause() == false)
            #expect(waiting.status.state == .waiting(.slot))
            #expect(await running.pause() == false)
            #expect(running.status.state != .paused)
            gate.open()
            try await shop.expectAll([running, waiting], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Resume: refused by the catalogue, it returns false and the download stays paused")
    func resumed() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state <> 'paused'", in: manager)
            #expect(await download.resume() == false)
            #expect(download.status.state == .paused)
            #expect(shop.asked == [])
            await manager.shutdown()
        }
    }
}
