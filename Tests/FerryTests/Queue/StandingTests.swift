import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("What a download waits for", .timeLimit(.minutes(30)))
struct StandingTests {
    @Test("is told of those that would run if there were a network, and of none behind them")
    func onlyTheirTurn() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline)) {
                $0.maxConcurrentDownloads = 2
            }
            let events = manager.events
            async let told = shop.told(events)
            let all = try await manager.download((0..<5).map { try shop.far("/\($0)") })
            #expect(all.allSatisfy { $0.status.state == .waiting(.network) })
            // Nobody hears it twice, and the next one when it would be his turn.
            #expect(await all[1].resume())
            #expect(await all[0].pause())
            await manager.shutdown()
            let waits = await told.compactMap { event -> DownloadID? in
                if case .waiting(.network, _) = event.kind { event.id } else { nil }
            }
            #expect(waits == all[0...2].map(\.id))
        }
    }

    @Test("is told to the delegate when it is the network, before it has begun, and again when the network goes")
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

    @Test("is the network also for one that joins while there is none")
    func joined() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline))
            let all = try await manager.download(
                ["/a", "/b"].map { path in try shop.far(path) { $0.startsPaused = true } })
            #expect(await all[0].resume())
            #expect(all[0].status.state == .waiting(.network))
            try await manager.resumeAll()
            #expect(all[1].status.state == .waiting(.network))
            await manager.shutdown()
        }
    }

    @Test("is a slot once its time has come and others have them all")
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
}
