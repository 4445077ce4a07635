import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// A download may change between the decision about it and the write of that decision.
@Suite("Changes of many downloads at once", .timeLimit(.minutes(30)))
struct ManyAtOnceTests {
    /// Leaves a failed `/a` with bytes in the list.
    private func fail(_ shop: Workshop, _ manager: DownloadManager) async throws {
        shop.serve(["/a"])
        shop.server.script("/a", [.cut(after: 1_000_000)], then: .status(503))
        let download = try await manager.download(try shop.single("/a"))
        #expect(await shop.code { _ = try await download.finished() } != nil)
        await manager.shutdown()
    }

    @Test("Clear: a failed download requested again during it is a new, listed download")
    func askedAgain() async throws {
        try await Workshop.run { shop in
            try await fail(shop, shop.kept(engine: shop.engine()) { $0.maxAttempts = 1 })
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let store = try await scheduler.held { $0.isRemoval }
            async let clearing: Void = manager.clear(.failed)
            await store.arrived()
            // Releases a `clear` that holds the list's lock: the addition waits for it.
            if !scheduler.isListFree { store.open() }
            let again = try await manager.download(try shop.single("/a"))
            store.open()
            try await clearing
            #expect(try await manager.downloads() == [again])
            try await shop.expectAll([again], are: resource)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Clear: a failed download with a retry due during it does not start")
    func retried() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let engine = shop.engine(clock: clock)
            try await fail(
                shop,
                shop.kept(engine: engine) {
                    $0.maxAttempts = 1
                    $0.retriesFailedAfter = .seconds(3600)
                })
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"], [.hold(gate)])
            let asked = shop.asked.count
            let manager = shop.kept(engine: shop.engine(clock: clock))
            let store = try await #require(manager.scheduler).held { $0.isRemoval }
            // This download is due together with the retry, and behind it.
            let other = try await manager.download(
                try shop.single("/b") { $0.notBefore = clock.date().addingTimeInterval(3600) })
            async let clearing: Void = manager.clear(.failed)
            await store.arrived()
            clock.jump(.seconds(7200))
            await gate.arrived()
            store.open()
            try await clearing
            gate.open()
            try await shop.expectAll([other], are: resource)
            #expect(try await manager.downloads() == [other])
            await manager.shutdown()
            #expect(Array(shop.asked[asked...]) == ["/b"])
            #expect(shop.files == ["b"])
        }
    }

    @Test("Pause all: when the catalogue refuses it, waiting downloads stay in the queue and run")
    func refused() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/x", "/a", "/b"])
            let gate = Gate()
            shop.server.script("/x", [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let running = try await manager.download(try shop.single("/x"))
            await gate.arrived()
            _ = try await manager.download(try shop.single("/a"))
            let waiting = try await manager.download(try shop.single("/b"))
            try await shop.refuse("BEFORE UPDATE OF state ON download WHEN NEW.state = 'paused'", in: manager)
            #expect(await shop.code { try await manager.pauseAll() } == .catalogue)
            #expect(waiting.status.state == .waiting(.slot))
            gate.open()
            try await shop.expectAll([running, waiting] + (try await manager.downloads()), are: resource)
            #expect(shop.asked == ["/x", "/a", "/b"])
            await manager.shutdown()
        }
    }

    @Test("Resume all: a paused download that is cancelled during it stays cancelled")
    func cancelled() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            let first = shop.kept()
            let id = try await first.download(try shop.single("/a") { $0.startsPaused = true }).id
            await first.shutdown()
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let store = try await scheduler.held { $0.isPlace }
            async let resuming: Void = manager.resumeAll()
            await store.arrived()
            if !scheduler.isListFree { store.open() }
            let download = try #require(try await manager.download(id: id))
            try await download.cancel()
            store.open()
            try await resuming
            #expect(try await store.row(id)?.state == .cancelled)
            #expect(download.status.state == .cancelled)
            await manager.shutdown()
            #expect(shop.files == [])
        }
    }
}
