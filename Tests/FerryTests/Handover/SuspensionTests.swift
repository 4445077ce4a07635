import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Suspension of a manager", .timeLimit(.minutes(30)))
struct SuspensionTests {
    @Test("Suspend: part file, journal and list are unlocked meanwhile, and activate continues from the same byte")
    func locks() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            #expect(throws: (any Error).self) { try shop.checkUnlocked("a") }
            await manager.suspend()
            #expect(download.status.state == .waiting(.slot))
            try shop.checkUnlocked("a")
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            let other = shop.kept { $0.maxConcurrentDownloads = 1 }
            let same = try #require(try await other.download(id: download.id))
            await gate.arrived()
            try await same.pause()
            await other.shutdown()
            // The other process has changed the list.
            try await manager.activate()
            #expect(download.status.state == .paused)
            try await download.resume()
            try shop.expect(await download.finished().path, is: resource)
            #expect(shop.server.traffic.requests(for: "/a").last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
        }
    }

    @Test("Suspend: a download that another process has removed meanwhile is reported with its session")
    func removedElsewhere() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let request = try shop.single("/a") { $0.startsPaused = true }
            let download = try await manager.download(request)
            let scheduler = try #require(manager.scheduler)
            await manager.suspend()
            let other = shop.kept()
            try await other.download(id: download.id)?.remove()
            await other.shutdown()
            var updates = scheduler.log.updates().makeAsyncIterator()
            try await manager.activate()
            let told = try #require(await updates.next())
            #expect(told.change.removed == [download.id])
            #expect(told.change.removedFrom == [download.id: "test"])
            await manager.shutdown()
        }
    }

    @Test("Suspend: calls throw wrongState meanwhile, sequences go on after it, and a shutdown is final")
    func calls() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let events = manager.events
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            await manager.suspend()
            await manager.suspend()
            let more = try shop.single("/b")
            #expect(await shop.code { try await download.pause() } == .wrongState)
            #expect(await shop.code { _ = try await manager.download(more) } == .wrongState)
            #expect(await shop.code { _ = try await manager.downloads() } == .wrongState)
            try await manager.activate()
            try shop.expect(await download.finished().path, is: resource)
            await manager.suspend()
            await manager.shutdown()
            #expect(await shop.code { try await manager.activate() } == .shutDown)
            #expect(await shop.told(events).contains { if case .completed = $0.kind { true } else { false } })
        }
    }

    @Test("Suspend: an end that the app acknowledges meanwhile is stored as such at the next opening")
    func acknowledged() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            var events = manager.events.makeAsyncIterator()
            _ = try await manager.download(try shop.single("/a")).finished()
            var end: DownloadEvent?
            while end == nil, let event = await events.next() {
                if case .completed = event.kind { end = event }
            }
            #expect(await manager.unacknowledged().map(\.number) == [end?.number])
            await manager.suspend()
            end?.acknowledge()
            try await manager.activate()
            #expect(await manager.unacknowledged().isEmpty)
            await manager.shutdown()
        }
    }

    @Test("Suspend: while the app goes on it is postponed, takes place afterwards, and not at all if the app is back")
    func postponed() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            await manager.continuingInApp {
                await manager.suspend()
                #expect(download.status.state == .downloading)
                await manager.continuingInApp {}
                #expect(download.status.state == .downloading)
            }
            #expect(download.status.state == .waiting(.slot))
            try shop.checkUnlocked("a")
            try await manager.activate()
            await manager.continuingInApp {
                await manager.suspend()
                try? await manager.activate()
            }
            try shop.expect(await download.finished().path, is: resource)
            await manager.continuingInApp {}
            #expect(await shop.code { _ = try await manager.downloads() } == nil)
            await manager.shutdown()
        }
    }

    @Test("Suspend: before the first use it creates no file, and activate opens the list")
    func unopened() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            await manager.suspend()
            #expect(shop.names == [])
            #expect(await shop.code { _ = try await manager.downloads() } == .wrongState)
            try await manager.activate()
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
        }
    }

    @Test("Suspend: a list in memory rests and goes on")
    func inMemory() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            await manager.suspend()
            try shop.checkUnlocked("a")
            try await manager.activate()
            try shop.expect(await download.finished().path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Suspend: an app that is killed three times while suspended has not crashed, and its download goes on")
    func kills() async throws {
        try await AppHome.run { home in
            let resource = Resource(size: 3_000_000, seed: 5)
            home.server.serve("/a", resource)
            for launch in 0..<3 {
                home.server.script("/a", [.stall(after: 200_000)])
                let app = try home.app(limit: 1)
                if launch == 0 { try await app.ask("add", ["id": "a", "url": home.server.url("/a")]) }
                try await app.ask("activate")
                try await app.ask("wait", ["id": "a", "state": "downloading"])
                try await app.ask("suspend")
                await app.kill()
            }
            home.server.always("/a", .honest)
            let last = try home.app(limit: 1)
            try await last.ask("wait", ["id": "a", "state": "completed"])
            try await last.close()
            home.shop.expect(home.directory + "/a", is: resource)
        }
    }
}
