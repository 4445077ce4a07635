import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Reasons for waiting", .timeLimit(.minutes(30)))
struct StandingTests {
    @Test("Waiting for the network: an event is sent for those within the limit, and for none behind them")
    func onlyTheirTurn() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline)) {
                $0.maxConcurrentDownloads = 2
            }
            let events = manager.events
            async let told = shop.told(events)
            let all = try await manager.download((0..<5).map { try shop.far("/\($0)") })
            #expect(all.allSatisfy { $0.status.state == .waiting(.network) })
            // Each download is reported once, and the third when it comes within the limit.
            try await all[1].resume()
            try await all[0].pause()
            await manager.shutdown()
            let waits = await told.compactMap { event -> DownloadID? in
                if case .waiting(.network, _) = event.kind { event.id } else { nil }
            }
            #expect(waits == all[0...2].map(\.id))
        }
    }

    @Test("Waiting for the network: the delegate is told before the start and after each loss of the network")
    func delegate() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor(.offline)
            let manager = shop.kept(engine: .far(), monitor: network)
            let recorder = Recorder()
            manager.setDelegate(recorder)
            let download = try await manager.download(try shop.far("/a"))
            await recorder.reach(.waiting)
            network.set(online: true)
            await shop.reach(1_000_000, download)
            network.set(online: false)
            await recorder.reach { entries in entries.count { $0.call == .waiting } >= 2 }
            network.set(online: true)
            try await shop.expectAll([download], are: resource)
            await recorder.reach(.completed)
            #expect(
                recorder.milestones(of: download.id) == [.waiting, .started, .waiting, .resumed, .completed])
            await manager.shutdown()
        }
    }

    @Test("Waiting for the network: a download resumed while offline has this state at once")
    func joined() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline))
            let all = try await manager.download(
                ["/a", "/b"].map { path in try shop.far(path) { $0.startsPaused = true } })
            try await all[0].resume()
            #expect(all[0].status.state == .waiting(.network))
            try await manager.resumeAll()
            #expect(all[1].status.state == .waiting(.network))
            await manager.shutdown()
        }
    }

    @Test("Waiting for a slot: after its start date a download has this state while others hold all slots")
    func timeHasCome() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(gate)])
            shop.serve(["/b"])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let first = try await manager.download(try shop.single("/a"))
            await gate.arrived()
            let date = clock.date().addingTimeInterval(3600)
            let later = try await manager.download(try shop.single("/b") { $0.notBefore = date })
            #expect(later.status.state == .waiting(.notBefore(date)))
            clock.jump(.seconds(3601))
            await shop.reach(later) { $0 == .waiting(.slot) }
            #expect(later.status.state == .waiting(.slot))
            gate.open()
            try await shop.expectAll([first, later], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Waiting for a server: the downloads behind a 503 say so, until when, and resuming one tries the server")
    func askedToWait() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a"], [.status(503, retryAfter: "3000")])
            shop.serve(["/b", "/c"])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 3 }
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(first) { if case .waiting(.retry) = $0 { true } else { false } }
            // What failed is said with the next attempt, also after the row was read again.
            #expect(first.status.waitError?.message.hasSuffix("503") == true)
            let later = try await manager.download([try shop.single("/b"), try shop.single("/c")])
            await shop.reach(later[1]) { if case .waiting(.server) = $0 { true } else { false } }
            guard case .waiting(.server(nil, let until?)) = later[1].status.state else {
                Issue.record("\(later[1].status.state)")
                return
            }
            #expect(abs(until.timeIntervalSince(clock.date()) - 3000) < 600)
            // With the port, because another port of the host is another server.
            let server = try Origin(of: DownloadURL(shop.server.url("/"))).authority
            #expect(server.hasPrefix("127.0.0.1:"))
            #expect(later[0].status.waitError?.message == "\(server) asked to wait (503)")
            let sentence = later[0].status.waitSentence { _ in "10:05" }
            #expect(sentence?.description == "\(server) asked to wait (503); next attempt at 10:05")
            let row = try #require(try await manager.rows([later[0].id]).first)
            #expect(row.state == .waiting(.slot), "the list keeps no moods of servers")
            try await later[1].resume()
            try await shop.expectAll(later, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Waiting for a server: resuming a paused download behind a 503 tries the server", arguments: [true, false])
    func resumedBehindDelay(isKnown: Bool) async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/b"])
            shop.serve(["/a"])
            shop.server.always("/a", .status(503, retryAfter: "3000"))
            var manager = shop.kept(engine: shop.engine(clock: clock))
            let paused = try await manager.download(try shop.single("/b") { $0.startsPaused = true })
            if !isKnown {
                await manager.shutdown()
                manager = shop.kept(engine: shop.engine(clock: clock))
            }
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(first) { if case .waiting(.retry) = $0 { true } else { false } }
            _ = try await manager.perform(.resume(), on: [paused.id], session: nil)
            try await shop.expectAll(try await manager.downloads().filter { $0.id == paused.id }, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Waiting for a server: a download that is queued again by a program waits for the delay")
    func requeuedBehindDelay() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b"])
            shop.server.always("/a", .status(503, retryAfter: "3000"))
            let manager = shop.kept(engine: shop.engine(clock: clock))
            let paused = try await manager.download(try shop.single("/b") { $0.startsPaused = true })
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(first) { if case .waiting(.retry) = $0 { true } else { false } }
            try await paused.requeue()
            await shop.reach(paused) { if case .waiting(.server) = $0 { true } else { false } }
            #expect(!shop.asked.contains("/b"))
            shop.server.always("/a", .honest)
            try await paused.resume()
            try await shop.expectAll([paused], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Waiting for a server: downloads of a list that is opened again wait in the queue, without an attempt")
    func openedBehindDelay() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b"])
            let gate = Gate()
            shop.server.always("/a", .hold(gate))
            let closed = shop.kept { $0.maxConcurrentDownloads = 1 }
            let ids = try await closed.download([try shop.single("/a"), try shop.single("/b")]).map(\.id)
            await gate.arrived()
            await closed.shutdown()
            shop.server.always("/a", .status(503, retryAfter: "3000"))
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let events = manager.events
            async let told = shop.told(events)
            // Until its row is read, the server of the second one is assumed from the name of its host.
            let all = try await manager.downloads()
            #expect(all.map(\.id) == ids)
            await shop.reach(all[1]) { if case .waiting(.server) = $0 { true } else { false } }
            #expect(!shop.asked.contains("/b"))
            shop.server.always("/a", .honest)
            // The one that waits in the queue is one of those that are tried.
            let result = try await manager.perform(.resume(), on: nil, session: nil)
            #expect(result.changed == Set(ids), "\(result)")
            try await shop.expectAll(all, are: resource)
            await manager.shutdown()
            let isRetried = await told.contains { event in
                if case .retrying = event.kind { event.id == ids[1] } else { false }
            }
            #expect(!isRetried, "there was no attempt")
        }
    }

    @Test("Waiting for a server: the downloads of one that refuses connections say what failed, and since when")
    func refused() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: shop.engine(clock: SteppedClock())) { $0.maxConcurrentDownloads = 3 }
            let dead = try DownloadURL("http://127.0.0.1:1/dead")
            let first = try await manager.download(try shop.single("/a") { $0.sources = [dead] })
            await shop.reach(first) { if case .waiting(.retry) = $0 { true } else { false } }
            let second = try await manager.download(try shop.single("/b") { $0.sources = [dead] })
            for await status in second.updates {
                guard case .waiting(.server(.some, _)) = status.state else { continue }
                #expect(status.waitError?.phrase?.key == .connectionRefused)
                break
            }
            await manager.shutdown()
        }
    }

    @Test("Waiting for the network: the status says which network is missing")
    func networkReason() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline))
            let download = try await manager.download(try shop.far("/a"))
            #expect(download.status.state == .waiting(.network))
            #expect(download.status.waitSentence { _ in "" }?.description == "there is no network")
            await manager.shutdown()
        }
    }

    @Test("Sign-in page: a download that got one is tried again at its place on another network, but not for ever")
    func signInPage() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a.iso", "/b.iso"])
            shop.server.always("/a.iso", .htmlPage())
            let network = ManualNetworkMonitor()
            let manager = shop.kept(monitor: network)
            let scheduler = try #require(manager.scheduler)
            let first = try await manager.download(try shop.single("/a.iso"))
            await shop.reach(first) { $0 == .waiting(.freshLink) }
            let second = try await manager.download(try shop.single("/b.iso"))
            try await shop.expectAll([second], are: resource)
            // Still the page: it waits again.
            network.movePath()
            try await eventually { shop.asked.count { $0 == "/a.iso" } == 2 }
            await shop.reach(first) { $0 == .waiting(.freshLink) }
            while scheduler.pageRetries.take(first.id) {}
            let last = scheduler.pageRetries.task
            network.movePath()
            try await eventually { scheduler.pageRetries.task != last }
            await scheduler.pageRetries.task?.value
            #expect(first.status.state == .waiting(.freshLink), "it was tried often enough")
            // Its user tries it, which counts anew.
            try await first.resume()
            try await eventually { shop.asked.count { $0 == "/a.iso" } == 3 }
            await shop.reach(first) { $0 == .waiting(.freshLink) }
            shop.server.always("/a.iso", .honest)
            network.movePath()
            try await shop.expectAll([first], are: resource)
            await manager.shutdown()
        }
    }
}
