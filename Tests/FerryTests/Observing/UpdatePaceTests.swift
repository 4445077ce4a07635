import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Paced updates", .timeLimit(.minutes(30)))
struct UpdatePaceTests {
    private func status(_ bytes: ByteCount, _ state: DownloadState = .downloading) -> DownloadStatus {
        DownloadStatus(id: "a", state: state, progress: DownloadProgress(completedBytes: bytes), name: "a")
    }

    @Test("UpdatePace: progress is delivered once in an interval, and the latest of those between is due after it")
    func progress() {
        var pace = UpdatePace(interval: .seconds(1))
        #expect(pace.received(status(1), at: .seconds(10)) == .deliver)
        #expect(pace.due(at: .seconds(20)) == nil)
        #expect(pace.received(status(2), at: .seconds(10.3)) == .ask(at: .seconds(11)))
        #expect(pace.received(status(3), at: .seconds(10.6)) == .keep)
        #expect(pace.due(at: .seconds(10.9)) == nil)
        #expect(pace.due(at: .seconds(11)) == status(3))
        #expect(pace.due(at: .seconds(11)) == nil)
        #expect(pace.received(status(4), at: .seconds(11.5)) == .ask(at: .seconds(12)))
        #expect(pace.received(status(5), at: .seconds(12)) == .deliver)
        #expect(pace.due(at: .seconds(12)) == nil)
    }

    @Test("UpdatePace: a change of the state is delivered at once, in place of what was kept")
    func changes() {
        var pace = UpdatePace(interval: .seconds(1))
        #expect(pace.received(status(1), at: .zero) == .deliver)
        #expect(pace.received(status(2), at: .milliseconds(100)) == .ask(at: .seconds(1)))
        #expect(pace.received(status(2, .paused), at: .milliseconds(200)) == .deliver)
        #expect(pace.due(at: .seconds(1)) == nil)
        #expect(pace.received(status(2), at: .milliseconds(300)) == .deliver)
        #expect(pace.received(status(3), at: .milliseconds(400)) == .ask(at: .milliseconds(1300)))
        #expect(pace.due(at: .milliseconds(500), isEnd: true) == status(3))
    }

    @Test("Updates by the interval: the state at first, each change of it, and the end, whatever the interval")
    func stream() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.always("/a", .hold(after: 1_000_000, gate))
            let manager = shop.manager()
            let download = try await manager.download(shop.single("/a") { $0.startsPaused = true })
            let updates = download.updates(every: .seconds(100_000))
            var states: [DownloadState.Kind] = []
            for await status in updates {
                if states.last != status.state.kind { states.append(status.state.kind) }
                if status.state == .paused { try await download.resume() }
                if status.state == .downloading { gate.open() }
            }
            #expect(states.first == .paused)
            #expect(states.contains(.downloading))
            #expect(states.last == .completed)
            await manager.shutdown()
        }
    }

    @Test("Updates by the interval: of progress only the first of a state is delivered before the interval is over")
    func slow() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Resource(size: 3_000_000))
            shop.server.always("/a", .hold(after: 1_000_000, gate))
            let manager = shop.manager()
            let download = try await manager.download(shop.single("/a"))
            var kinds: [DownloadState.Kind] = []
            for await status in download.updates(every: .seconds(100_000)) {
                kinds.append(status.state.kind)
                if status.state == .downloading {
                    await shop.reach(1_000_000, download)
                    gate.open()
                }
            }
            #expect(kinds.count { $0 == .downloading } == 1)
            #expect(kinds.last == .completed)
            await manager.shutdown()
        }
    }
}
