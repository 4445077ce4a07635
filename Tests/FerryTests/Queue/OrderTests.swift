import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Order of the queue", .timeLimit(.minutes(30)))
struct OrderTests {
    /// Runs a body with a manager whose only slot is held by a blocked download.
    private func blocked(
        _ shop: Workshop, _ body: (DownloadManager, Download, Gate, Resource) async throws -> Void
    ) async throws {
        let gate = Gate()
        let resource = shop.serve(["/x"], [.hold(gate)])
        shop.serve(["/a", "/b", "/c", "/d"])
        let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
        let blocker = try await manager.download(try shop.single("/x") { $0.id = DownloadID(rawValue: "x") })
        await gate.arrived()
        try await body(manager, blocker, gate, resource)
        await manager.shutdown()
    }

    private func add(
        _ paths: [String], _ shop: Workshop, _ manager: DownloadManager,
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> [Download] {
        try await manager.download(
            paths.map { path in
                try shop.single(path) {
                    $0.id = DownloadID(rawValue: String(path.dropFirst()))
                    change(&$0)
                }
            })
    }

    private func list(_ manager: DownloadManager) async throws -> String {
        try await manager.downloads().map(\.id.rawValue).joined()
    }

    @Test("Order: the highest priority runs next, and no running download is stopped for it")
    func priority() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let low = try await add(["/a"], shop, manager) { $0.priority = .low }
                let normal = try await add(["/b"], shop, manager)
                let high = try await add(["/c"], shop, manager) { $0.priority = .high }
                let changed = try await add(["/d"], shop, manager)
                try await changed[0].change { $0.priority = DownloadPriority(rawValue: 5) }
                #expect(blocker.status.state == .downloading)
                #expect(try await list(manager) == "dcxba")
                gate.open()
                try await shop.expectAll(low + normal + high + changed, are: resource)
                #expect(shop.asked == ["/x", "/d", "/c", "/b", "/a"])
            }
        }
    }

    @Test("Order: moves to the front, to the back, before and behind another one decide what runs next")
    func moves() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let all = try await add(["/a", "/b", "/c", "/d"], shop, manager)
                let (a, b, c, d) = (all[0], all[1], all[2], all[3])
                try await d.moveInList(to: .first)
                #expect(try await list(manager) == "dxabc")
                try await a.moveInList(to: .last)
                #expect(try await list(manager) == "dxbca")
                try await b.moveInList(to: .after(c.id))
                #expect(try await list(manager) == "dxcba")
                try await a.moveInList(to: .before(b.id))
                #expect(try await list(manager) == "dxcab")
                // To its present position, and beside itself.
                try await a.moveInList(to: .before(b.id))
                try await a.moveInList(to: .after(a.id))
                #expect(try await list(manager) == "dxcab")
                gate.open()
                try await shop.expectAll([blocker] + all, are: resource)
                #expect(shop.asked == ["/x", "/d", "/c", "/a", "/b"])
            }
        }
    }

    @Test("Order: a move never loads the whole list")
    func movesInLongLists() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, _, gate, _ in
                let scheduler = try #require(manager.scheduler)
                let all = try await add(["/a", "/b", "/c", "/d"], shop, manager)
                let (a, b, c, d) = (all[0], all[1], all[2], all[3])
                let store = WatchedStore(try await scheduler.opened())
                scheduler.use(store)
                try await d.moveInList(to: .first)
                try await a.moveInList(to: .last)
                try await b.moveInList(to: .after(c.id))
                try await a.moveInList(to: .before(b.id))
                #expect(try await list(manager) == "dxcab")
                try await b.moveInList(to: .index(1))
                try await d.moveInList(to: .index(9))
                try await c.moveInList(to: .index(-1))
                #expect(try await list(manager) == "cbxad")
                #expect(store.loads == 0)
                gate.open()
            }
        }
    }

    @Test("Order: a move beside a missing identifier, or one of another priority, is an error and changes nothing")
    func badMove() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, _, gate, _ in
                let all = try await add(["/a", "/b"], shop, manager)
                let low = try await add(["/c"], shop, manager) { $0.priority = .low }
                for place in [ListPlacement.before(DownloadID(rawValue: "none")), .after(low[0].id)] {
                    #expect(await shop.code { try await all[1].moveInList(to: place) } == .notFound)
                }
                #expect(try await list(manager) == "xabc")
                gate.open()
            }
        }
    }

    @Test("Order: repeated moves between the same two downloads always find a position")
    func crowded() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, _, gate, _ in
                let all = try await add(["/a", "/b", "/c"], shop, manager) { $0.startsPaused = true }
                for _ in 0..<40 {
                    try await all[2].moveInList(to: .after(all[0].id))
                    #expect(try await list(manager) == "xacb")
                    try await all[1].moveInList(to: .after(all[0].id))
                    #expect(try await list(manager) == "xabc")
                }
                gate.open()
            }
        }
    }

    @Test("Order: paused downloads can be moved, and resumeAll runs them in the new order")
    func movedWhilePaused() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let all = try await add(["/a", "/b", "/c"], shop, manager) { $0.startsPaused = true }
                try await all[2].moveInList(to: .first)
                try await all[0].moveInList(to: .after(all[1].id))
                #expect(try await list(manager) == "cxba")
                #expect(all.allSatisfy { $0.status.state == .paused })
                try await manager.resumeAll()
                #expect(try await list(manager) == "xcba")
                gate.open()
                try await shop.expectAll([blocker] + all, are: resource)
                #expect(shop.asked == ["/x", "/c", "/b", "/a"])
            }
        }
    }

    @Test("Order: pauseAll and resumeAll keep it, with handles or without")
    func pauseAll() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                _ = try await add(["/a"], shop, manager)
                let held = try await add(["/b"], shop, manager)
                _ = try await add(["/c"], shop, manager)
                try await manager.pauseAll()
                for download in try await manager.downloads() { #expect(download.status.state == .paused) }
                #expect(shop.asked == ["/x"])
                let again = Gate()
                shop.server.script("/x", [.hold(again)])
                gate.open()
                try await manager.resumeAll()
                await again.arrived()
                #expect(try await list(manager) == "xabc")
                #expect(held[0].status.state == .waiting(.slot))
                again.open()
                try await shop.expectAll([blocker] + (try await manager.downloads()), are: resource)
                #expect(shop.asked == ["/x", "/x", "/a", "/b", "/c"])
            }
        }
    }

    @Test("Order: resumeAll with a free slot starts downloads in list order, with handles or without")
    func resumeAllInOrder() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b", "/c", "/d"])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            _ = try await add(["/a"], shop, manager) { $0.startsPaused = true }
            let held = try await add(["/b"], shop, manager) { $0.startsPaused = true }
            _ = try await add(["/c", "/d"], shop, manager) { $0.startsPaused = true }
            try await manager.resumeAll()
            let all = try await manager.downloads()
            try await shop.expectAll(all, are: resource)
            #expect(held[0].status.state == all[1].status.state)
            #expect(shop.asked == ["/a", "/b", "/c", "/d"])
            await manager.shutdown()
        }
    }

    @Test("Order: a resumed download takes the last position")
    func joiningAgain() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let all = try await add(["/a", "/b"], shop, manager)
                try await all[0].pause()
                try await all[0].resume()
                #expect(try await list(manager) == "xba")
                gate.open()
                try await shop.expectAll([blocker] + all, are: resource)
                #expect(shop.asked == ["/x", "/b", "/a"])
            }
        }
    }

    @Test("Order: a move while a resume of the same download is stored counts in the list as in the queue")
    func movedWhileResuming() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let all = try await add(["/a", "/b", "/c"], shop, manager)
                try await all[0].pause()
                let scheduler = try #require(manager.scheduler)
                // The resume is stored, and its place is not in the queue yet.
                let store = try await scheduler.held(afterwards: true) { $0.isUpdate }
                async let resuming: Void = all[0].resume()
                await store.arrived()
                // A resume that holds the list's lock: the move waits for it.
                if !scheduler.isListFree { store.open() }
                try await all[0].moveInList(to: .after(all[1].id))
                store.open()
                try await resuming
                #expect(try await list(manager) == "xbac")
                gate.open()
                try await shop.expectAll([blocker] + all, are: resource)
                #expect(shop.asked == ["/x", "/b", "/a", "/c"])
            }
        }
    }

    @Test("Order: downloads that are resumed at the same time are stored together, and a move waits for them")
    func resumedTogether() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, _, gate, _ in
                let all = try await add(["/a", "/b", "/c"], shop, manager)
                for download in all[..<2] { try await download.pause() }
                let scheduler = try #require(manager.scheduler)
                let store = try await scheduler.held { $0.isPlace }
                async let first: Void = all[0].resume()
                await store.arrived()
                async let second: Void = all[1].resume()
                // The first is not stored yet.
                await store.arrived(2)
                #expect(!scheduler.isListFree)
                async let move: Void = all[1].moveInList(to: .after(all[2].id))
                store.open()
                try await first
                try await second
                try await move
                #expect(try await list(manager) == "xcba")
                gate.open()
            }
        }
    }

    @Test("Order: a move while a download that keeps its place is queued again is kept")
    func movedWhileQueued() async throws {
        try await Workshop.run { shop in
            try await blocked(shop) { manager, blocker, gate, resource in
                let all = try await add(["/a", "/b"], shop, manager)
                let last = try await add(["/c"], shop, manager) { $0.startsPaused = true }
                let scheduler = try #require(manager.scheduler)
                let held = scheduler.held(last[0].live)
                let store = try await scheduler.held { $0.isUpdate }
                async let queueing: Void = scheduler.enqueue([held], keepsPlace: true)
                await store.arrived()
                try await last[0].moveInList(to: .first)
                store.open()
                try await queueing
                #expect(try await list(manager) == "cxab")
                gate.open()
                try await shop.expectAll([blocker] + last + all, are: resource)
                #expect(shop.asked == ["/x", "/c", "/a", "/b"])
            }
        }
    }
}
