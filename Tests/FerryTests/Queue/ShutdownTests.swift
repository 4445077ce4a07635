import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Shutdown of a manager", .timeLimit(.minutes(30)))
struct ShutdownTests {
    @Test("Shutdown: states and order are kept, and a manager with the same identifier resumes")
    func statesAreKept() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/done", "/fail", "/pause", "/run", "/wait", "/gone"])
            shop.server.always("/fail", .status(503))
            shop.server.script("/pause", [.stall(after: 1_000_000)])
            shop.server.script("/run", [.stall(after: 2_000_000)])
            let manager = shop.kept(engine: shop.engine()) {
                $0.maxConcurrentDownloads = 1
                $0.maxRetries = 1
            }
            var all: [Download] = []
            for path in ["/done", "/fail", "/pause"] {
                let download = try await manager.download(try shop.single(path))
                await shop.reach(1_000_000, download)
                if path == "/pause" { try await download.pause() }
                await shop.reach(download) { $0 == .paused }
                all.append(download)
            }
            for path in ["/run", "/wait", "/gone"] { all.append(try await manager.download(try shop.single(path))) }
            try await all[5].cancel()
            await shop.reach(2_000_000, all[3])
            let order = try await manager.downloads().map(\.id)
            await manager.shutdown()
            #expect(
                all.map(\.status.state.kind) == [.completed, .failed, .paused, .waiting, .waiting, .cancelled])

            // The held request keeps the others from starting.
            let gate = Gate()
            shop.server.script("/run", [.hold(gate)])
            let next = shop.kept { $0.maxConcurrentDownloads = 1 }
            try await next.activate()
            await gate.arrived()
            let again = try await next.downloads()
            #expect(again.map(\.id) == order)
            #expect(order == all.map(\.id))
            #expect(
                again.map(\.status.state.kind) == [
                    .completed, .failed, .paused, .downloading, .waiting, .cancelled,
                ])
            #expect(again.map(\.status.bytes) == [3_000_000, 0, 1_000_000, 2_000_000, 0, 0])
            gate.open()
            try await shop.expectAll([again[3], again[4]], are: resource)
            #expect(shop.server.traffic.requests(for: "/run").last?.range == "bytes=2000000-2999999")
            #expect(shop.asked.suffix(2) == ["/run", "/wait"])
            await next.shutdown()
        }
    }

    @Test("Shutdown: handles and sequences end, and later calls throw shutDown")
    func handlesEnd() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            shop.serve(["/b"])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download(["/a", "/b"].map { try shop.single($0) })
            await shop.reach(1_000_000, all[0])
            let (events, changes, network) = (manager.events, manager.listChanges, manager.networkChanges)
            await withTaskGroup(of: Void.self) { group in
                for download in all {
                    group.addTask { #expect(await shop.code { _ = try await download.finished() } == .shutDown) }
                    group.addTask { for await _ in download.updates {} }
                }
                group.addTask { for await _ in events {} }
                group.addTask { for await _ in changes {} }
                group.addTask { for await _ in network {} }
                group.addTask { await manager.shutdown() }
                group.addTask { await manager.shutdown() }
            }
            let files = shop.files
            for download in all {
                #expect(await shop.code { try await download.pause() } == .shutDown)
                #expect(await shop.code { try await download.resume() } == .shutDown)
                #expect(await shop.code { try await download.cancel() } == .shutDown)
                #expect(await shop.code { try await download.restart() } == .shutDown)
                #expect(download.status.state == .waiting(.slot))
                #expect(await shop.code { _ = try await download.finished() } == .shutDown)
                #expect(await shop.code { try await download.remove() } == .shutDown)
                #expect(await shop.code { try await download.change { $0.label = "x" } } == .shutDown)
                #expect(await shop.code { try await download.moveInList(to: .first) } == .shutDown)
                #expect(await shop.code { _ = try await download.cancelByProducingResumeData() } == .shutDown)
                let someone = Credentials(user: "u", password: "p")
                #expect(await shop.code { try await download.provide(credentials: someone) } == .shutDown)
            }
            let request = try shop.single("/c")
            #expect(await shop.code { _ = try await manager.download(request) } == .shutDown)
            #expect(await shop.code { try await manager.activate() } == .shutDown)
            #expect(await shop.code { _ = try await manager.downloads() } == .shutDown)
            #expect(await shop.code { try await manager.pauseAll() } == .shutDown)
            #expect(await shop.code { try await manager.clear(.all) } == .shutDown)
            #expect(shop.files == files)
            let next = shop.kept { $0.maxConcurrentDownloads = 1 }
            let again = try await next.downloads()
            #expect(again.map(\.id) == all.map(\.id))
            try await shop.expectAll(again, are: Resource(size: 3_000_000))
            await next.shutdown()
        }
    }

    @Test("Shutdown: before the first use it creates no file, and later calls throw shutDown")
    func unopened() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            await manager.shutdown()
            #expect(await shop.code { try await manager.activate() } == .shutDown)
            #expect(shop.names == [])
        }
    }

    @Test("Second opener: an open list cannot be opened again, and the first manager goes on (B9)")
    func secondOpener() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            try await manager.activate()
            let second = shop.kept()
            #expect(await shop.code { try await second.activate() } == .catalogue)
            let request = try shop.single("/a")
            #expect(await shop.code { _ = try await second.download(request) } == .catalogue)
            let download = try await manager.download(request)
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
            // The second manager can open the list once the first is shut down.
            #expect(try await second.downloads().map(\.id) == [download.id])
            await second.shutdown()
        }
    }

    @Test("Finish and shut down: waiting downloads run, paused ones stay, and new ones are refused")
    func finishing() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a", "/b", "/c"])
            shop.server.script("/a", [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download(["/a", "/b"].map { try shop.single($0) })
            let paused = try await manager.download(try shop.single("/c") { $0.startsPaused = true })
            await gate.arrived()
            async let end: Void = manager.finishAndShutDown()
            let more = try shop.single("/d")
            while await shop.code({ _ = try await manager.download(more) }) == nil {
                try await manager.downloads().last?.remove()
                await Task.yield()
            }
            gate.open()
            await end
            try await shop.expectAll(all, are: resource)
            #expect(paused.status.state == .paused)
            #expect(!shop.asked.contains("/c"))
        }
    }

    @Test("Finish and shut down: downloads of an earlier launch run, also without an earlier call")
    func finishingUnopened() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let first = shop.kept()
            let download = try await first.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            await first.shutdown()
            let second = shop.kept()
            await second.finishAndShutDown()
            shop.expect(shop.path("a"), is: resource)
        }
    }

    @Test("Finish and shut down: it returns at once and reports nothing when another manager has the list")
    func finishingClosed() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            try await manager.activate()
            let second = shop.kept()
            let recorder = Recorder()
            second.setDelegate(recorder)
            await second.finishAndShutDown()
            #expect(recorder.entries == [])
            await manager.shutdown()
        }
    }

    @Test(
        "Finish and shut down: it returns when the last waiting download is cancelled or paused",
        arguments: [true, false])
    func finishingWithNothingLeft(isPaused: Bool) async throws {
        try await Workshop.run { shop in
            let network = ManualNetworkMonitor(.offline)
            let manager = shop.kept(monitor: network)
            // A host outside this machine, which needs a network.
            let request = DownloadRequest(
                sources: [try DownloadURL("http://192.0.2.1/file")], destination: .directory(shop.directory))
            let download = try await manager.download(request)
            async let end: Void = manager.finishAndShutDown()
            let more = try shop.single("/d") { $0.startsPaused = true }
            while await shop.code({ _ = try await manager.download(more) }) == nil { await Task.yield() }
            if isPaused {
                try await download.pause()
            } else {
                try await download.cancel()
            }
            await end
        }
    }
}
