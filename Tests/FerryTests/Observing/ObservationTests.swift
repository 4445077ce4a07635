import Dispatch
import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Observation of one download", .timeLimit(.minutes(30)))
struct ObservationTests {
    private static let resource = Resource(size: 3_000_000)

    /// The statuses that a handler received.
    private final class Notes: Sendable {
        private let all = Mutex<[DownloadStatus]>([])
        private let updates = AsyncEvent()
        var count: Int { all.withLock { $0.count } }
        var statuses: [DownloadStatus] { all.withLock { $0 } }
        var states: [DownloadState] { statuses.map(\.state) }
        func add(_ status: DownloadStatus) {
            all.withLock { $0.append(status) }
            updates.notify()
        }
        func reach(_ count: Int) async {
            while self.count < count {
                let seen = updates.count
                if self.count >= count { return }
                await updates.wait(after: seen)
            }
        }
    }

    @Test("Observe: on a queue the handler gets each status there, the completed one last")
    func onQueue() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a"))
            let queue = DispatchQueue(label: "observer")
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let (notes, door) = (Notes(), Door())
            let token = download.observe(on: queue) { status in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                notes.add(status)
                if case .completed = status.state { door.open() }
            }
            await door.pass()
            #expect(notes.states.last == .completed(.single))
            withExtendedLifetime(token) {}
            await manager.shutdown()
        }
    }

    @Test("Observe: at most ten statuses a second, and always the last one")
    func tenASecond() async throws {
        try await Workshop.run { shop in
            let (clock, notes) = (ManualClock(), Notes())
            // A hundred pieces a second of that clock; some of them wait for another status at the reader.
            let transport = ScriptedTransport(Resource(size: 4_000_000), piece: 4000) { offset in
                let (count, start) = (notes.count, clock.now())
                repeat {
                    // A reader that gets no processor must not become a stalled connection.
                    if clock.now() - start < .seconds(1) {
                        await clock.beat(by: .milliseconds(10))
                    } else {
                        await Task.yield()
                    }
                } while offset.isMultiple(of: 400_000) && notes.count == count
            }
            let recorder = Recorder()
            let manager = shop.manager(engine: shop.engine(clock: clock, transport: transport))
            manager.setDelegate(recorder)
            let start = clock.now()
            let download = try await manager.download(try shop.single("/a"))
            for await status in download.updates { notes.add(status) }
            let tenths = (clock.now() - start) / .milliseconds(100)
            await recorder.reach(.completed)
            let moving = notes.statuses.count { $0.state == .downloading }
            // Beside those of the heartbeat there may be the first one, and one for the change of the state.
            #expect(moving >= 8 && Double(moving) <= tenths + 2, "\(moving) statuses in \(tenths) tenths")
            let calls = recorder.calls(of: download.id).count { $0 == .progress }
            #expect(Double(calls) <= tenths, "\(calls) calls in \(tenths) tenths")
            #expect(notes.states.last == .completed(.single))
            #expect(notes.statuses.last?.bytes == 4_000_000)
            await manager.shutdown()
        }
    }

    enum Way: Sendable, CaseIterable { case queue, main }

    @Test("Observe: after cancel of the token the handler is not called", arguments: Way.allCases)
    @MainActor func cancelled(_ way: Way) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Self.resource)
            shop.server.always("/a", .hold(after: 1_000_000, gate))
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            let notes = Notes()
            try await Self.cancel(way, download, notes)
            let count = notes.count
            gate.open()
            _ = try await download.finished()
            await shop.beats(1, of: download)
            #expect(notes.count == count)
            await manager.shutdown()
        }
    }

    /// Cancels on the queue, or the actor, where the handler is called.
    private static func cancel(_ way: Way, _ download: Download, _ notes: Notes) async throws {
        switch way {
        case .queue:
            let queue = DispatchQueue(label: "observer")
            let token = download.observe(on: queue) { notes.add($0) }
            await notes.reach(2)
            // A status that is already enqueued must not be delivered either.
            queue.sync { token.cancel() }
            queue.sync {}
        case .main:
            let token = await MainActor.run { download.observe { notes.add($0) } }
            await notes.reach(2)
            await MainActor.run { token.cancel() }
        }
    }

    @Test("Observe: release of the token releases the download and its manager", arguments: Way.allCases)
    func released(_ way: Way) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            var manager: DownloadManager? = shop.lasting()
            var download = try await manager?.download(shop.request("/a") { $0.startsPaused = true })
            let notes = Notes()
            var token =
                switch way {
                case .queue: download?.observe(on: DispatchQueue(label: "observer")) { notes.add($0) }
                case .main: download?.observe { notes.add($0) }
                }
            await notes.reach(1)
            let events = try #require(manager?.events)
            download = nil
            manager = nil
            withExtendedLifetime(token) {}
            token = nil
            // The release of the last reference shuts the manager down without further progress.
            for await _ in events {}
        }
    }

    @Test("Updates: release of their reader releases a paused download and its manager")
    func reader() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            var manager: DownloadManager? = shop.lasting()
            var download = try await manager?.download(shop.request("/a") { $0.startsPaused = true })
            let events = try #require(manager?.events)
            let updates = try #require(download?.updates)
            let door = Door()
            // owner: this test.
            let task = Task { for await _ in updates { door.open() } }
            await door.pass()
            download = nil
            manager = nil
            task.cancel()
            await task.value
            for await _ in events {}
        }
    }

    @Test("Updates: a slow reader gets the latest status, and always the last one")
    func slowReader() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Self.resource)
            shop.server.always("/a", .hold(after: 1_000_000, gate))
            let manager = shop.manager()
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            var slow = download.updates.makeAsyncIterator()
            await shop.reach(1_000_000, download)
            await shop.beats(5, of: download)
            gate.open()
            _ = try await download.finished()
            #expect(await slow.next()?.state == .completed(.single))
            #expect(await slow.next() == nil)
            await manager.shutdown()
        }
    }
}
