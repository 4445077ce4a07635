import FerryCore
import FerryTesting
import Foundation
import Synchronization
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
            try await fail(shop, shop.kept(engine: shop.engine()) { $0.maxRetries = 1 })
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
                    $0.maxRetries = 1
                    $0.retriesFailedAfter = .seconds(3600)
                })
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"], [.hold(gate)])
            let asked = shop.asked.count
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.retriesFailedAfter = .seconds(3600) }
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

    /// Lists 300 paused downloads of one server, to which nothing is sent.
    private func resting(
        _ shop: Workshop, _ body: (DownloadManager, Scheduler, WatchedStore, [DownloadID]) async throws -> Void
    ) async throws {
        let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
        let gate = Gate()
        shop.serve(["/x"], [.hold(gate)])
        // Takes the only slot.
        _ = try await manager.download(try shop.single("/x") { $0.priority = .high })
        await gate.arrived()
        let ids = (0..<300).map { DownloadID(rawValue: "d\($0)") }
        _ = try await manager.download(
            ids.map { id in
                try shop.single("/\(id)") {
                    $0.id = id
                    $0.startsPaused = true
                }
            })
        let scheduler = try #require(manager.scheduler)
        let store = WatchedStore(try await scheduler.opened())
        scheduler.use(store)
        try await body(manager, scheduler, store, ids)
        gate.open()
        await manager.shutdown()
    }

    @Test("Many at once: each action on 300 resting downloads is one commit")
    func committed() async throws {
        try await Workshop.run { shop in
            try await resting(shop) { manager, scheduler, store, ids in
                var change = RequestChange()
                change.set(.label, \.label, "new")
                change.set(.priority, \.priority, .low)
                let actions: [(ListAction, DownloadState.Kind)] = [
                    (.resume(), .waiting), (.pause(), .paused), (.change(change), .paused), (.cancel, .cancelled),
                ]
                for (action, kind) in actions {
                    let before = store.commits
                    let result = try await scheduler.perform(action, on: ids, session: nil)
                    #expect(store.commits - before == 1, "\(action)")
                    #expect(result.changed == Set(ids), "\(action)")
                    #expect(Set(try await store.rows(ids).map(\.state.kind)) == [kind], "\(action)")
                }
                #expect(Set(try await store.rows(ids).map(\.label)) == ["new"])
                // In the order of the first of them.
                #expect(try await store.load().map(\.id).suffix(300) == ids[...])
                let moved = [ids[7], ids[3], ids[250]]
                var before = store.commits
                #expect(try await scheduler.move(moved, to: .first).changed == Set(moved))
                #expect(store.commits - before == 1)
                #expect(try await store.load().map(\.id).suffix(300).prefix(4) == (moved + [ids[0]])[...])
                before = store.commits
                let removed = try await scheduler.perform(
                    .remove(deletingFiles: true), on: nil, session: "none of these")
                #expect(removed.changed.isEmpty)
                let rest = try await scheduler.perform(.remove(deletingFiles: true), on: ids + ids, session: nil)
                #expect(rest.changed == Set(ids))
                #expect(store.commits - before == 1)
                #expect(try await manager.downloadCount == 1)
                #expect(shop.asked == ["/x"])
            }
        }
    }

    @Test("Many at once: a named download that refuses the action is an error, and one that is so already is unchanged")
    func refusals() async throws {
        try await Workshop.run { shop in
            try await resting(shop) { manager, scheduler, store, ids in
                _ = try await scheduler.perform(.cancel, on: [ids[0]], session: nil)
                let named = [ids[0], ids[1], DownloadID(rawValue: "none")]
                let paused = try await scheduler.perform(.pause(), on: named, session: nil)
                #expect(paused.changed.isEmpty)
                #expect(paused.unchanged == [ids[1]])
                #expect(paused.failures.mapValues(\.code) == [ids[0]: .wrongState, named[2]: .notFound])
                // Of all, only those are meant whose state permits it.
                let all = try await scheduler.perform(.cancel, on: nil, session: nil)
                #expect(all.failures.isEmpty && all.unchanged.isEmpty)
                #expect(all.changed.count == 300)
            }
        }
    }

    @Test("Pause all: downloads without an object have it in their history, as others have")
    func pausedHistory() async throws {
        try await Workshop.run { shop in
            try await resting(shop) { manager, scheduler, store, ids in
                _ = try await scheduler.perform(.resume(), on: ids, session: nil)
                _ = try await scheduler.perform(.pause(), on: ids, session: nil)
                #expect(try await manager.history(of: ids[7]).last?.kind == .paused)
            }
        }
    }

    @Test("Remove all: the earlier file of a download that is restarted is deleted with it")
    func removedEarlier() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let first = shop.kept()
            let download = try await first.download(try shop.single("/a"))
            _ = try await download.finished()
            shop.server.script("/a", [.stall(after: 0)])
            try await download.restart()
            try await download.pause()
            await first.shutdown()
            #expect(shop.files.contains("a"))
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let removed = try await scheduler.perform(.remove(deletingFiles: true), on: nil, session: nil)
            #expect(removed.changed.count == 1)
            #expect(shop.files == [])
            await manager.shutdown()
        }
    }

    @Test("Cancel all: the part files of waiting downloads are deleted, and each end is an event")
    func cancelledParts() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b"], [.stall(after: 1_000_000)])
            let first = shop.kept()
            let downloads = try await first.download([try shop.single("/a"), try shop.single("/b")])
            for download in downloads { await shop.reach(1_000_000, download) }
            try await first.pauseAll()
            await first.shutdown()
            #expect(shop.files.count == 4)
            let manager = shop.kept()
            var events = manager.events.makeAsyncIterator()
            let result = try await #require(manager.scheduler).perform(.cancel, on: nil, session: nil)
            #expect(result.changed.count == 2)
            #expect(shop.files == [])
            var ended: Set<DownloadID> = []
            while ended.count < 2, let event = await events.next() {
                if event.kind == .cancelled, event.number != nil { ended.insert(event.id) }
            }
            #expect(ended == Set(downloads.map(\.id)))
            await manager.shutdown()
        }
    }
}
