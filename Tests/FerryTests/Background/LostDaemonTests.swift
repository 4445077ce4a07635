import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient
@testable import FerryEngine

@Suite("Manager without a reachable daemon", .timeLimit(.minutes(30)))
struct LostDaemonTests {
    private func place(_ socket: String, binary: String? = nil) -> DownloadManager.Configuration {
        let place = DaemonAddress.test(socket, binary: binary)
        return DownloadManager.Configuration(daemon: place)
    }

    @Test("Remote manager: without the program its error names the path at once")
    func nowhere() async throws {
        try await Workshop.run { shop in
            let manager = DownloadManager(place(shop.path("none/ferry.sock"), binary: shop.path("ferry")))
            do throws(DownloadError) {
                try await manager.activate()
                Issue.record("it was there")
            } catch {
                #expect(error.code == .daemonUnavailable)
                #expect(error.message.contains(shop.path("ferry")))
            }
            #expect(!(await shop.code { _ = try await manager.downloads() } == nil))
            await manager.shutdown()
            #expect(await shop.code { try await manager.activate() } == .shutDown)
        }
    }

    @Test("Remote manager: a program that cannot be started, or fails, is the error daemonUnavailable")
    func notStarted() async throws {
        try await Workshop.run { shop in
            for (name, text) in [("no-program", "nothing"), ("fails", "#!/bin/sh\nexit 3\n")] {
                try Executable.write(text, to: shop.path(name))
                let manager = DownloadManager(place(shop.path("none/ferry.sock"), binary: shop.path(name)))
                #expect(await shop.code { try await manager.activate() } == .daemonUnavailable)
                await manager.shutdown()
            }
        }
    }

    @Test("Remote manager: a daemon of another API version is an error, and gets no further request")
    func otherVersion() async throws {
        let greeting = Greeting(api: 9, minimum: 8, version: "9.1", pid: 1, session: "s", boot: "b")
        try await ScriptedDaemon.answering { _, _ in
            greeting
        } _: { socket, stranger in
            let manager = DownloadManager(place(socket, binary: "/nonexistent/ferry"))
            do throws(DownloadError) {
                try await manager.activate()
                Issue.record("it was joined")
            } catch {
                #expect(error.code == .daemonUnavailable)
                #expect(error.message.contains("9.1, API 9"))
                #expect(error.suggestion == "Update Ferry.")
            }
            await manager.shutdown()
            #expect(Set(stranger.asked) == ["GET /api/v1"])
        }
    }

    @Test("Remote manager: a stream destination is refused in both languages")
    func streams() async throws {
        try await BackendHome.run(.daemon) { home in
            let manager = home.manager()
            let source = try DownloadURL(home.server.url("/a"))
            do throws(DownloadError) {
                _ = try await manager.download(DownloadRequest(sources: [source], destination: .stream(1)))
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .invalidRequest)
                #expect(error.message.contains("stream"))
                #expect(error.message(in: .simplifiedChinese).contains("流"))
            }
            await manager.shutdown()
        }
    }

    @Test("Remote manager: an invalid session name is refused")
    func badName() async throws {
        try await BackendHome.run(.daemon) { home in
            let manager = home.manager("../other")
            #expect(await home.shop.code { try await manager.activate() } == .invalidRequest)
            await manager.shutdown()
        }
    }

    @Test("Remote manager: shutdown first delivers all ends, although its event stream is behind")
    func heardOut() async throws {
        try await BackendHome.run(.daemon) { home in
            let paths = (0..<40).map { "/\($0)" }
            for path in paths { home.server.serve(path, Resource(size: 1000, seed: 1)) }
            let manager = home.manager()
            let events = manager.events
            try await manager.activate()
            // Another manager of the session gets the ends first.
            let other = home.manager()
            let downloads = try await other.download(paths.map { try home.request($0) })
            for download in downloads { _ = try await download.finished() }
            await manager.shutdown()
            let ended = await home.shop.told(events).filter(\.kind.isEnd).map(\.id)
            #expect(Set(ended) == Set(downloads.map(\.id)))
            await other.shutdown()
        }
    }

    @Test("Remote manager: after a restart of the daemon handles go on, calls complete, and ends are reported once")
    func restarted() async throws {
        try await BackendHome.run(.daemon) { home in
            let daemon = try #require(home.daemon)
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            home.shop.serve(["/b"])
            let manager = home.manager()
            let recorder = Recorder()
            manager.setDelegate(recorder)
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            try await daemon.stop()
            async let added = manager.download(home.request("/b"))
            try await daemon.start()
            home.shop.expect(try await download.finished().path, is: resource)
            let other = try await added
            home.shop.expect(try await other.finished().path, is: resource)
            #expect(try await manager.downloads() == [download, other])
            await recorder.reach { $0.count { $0.call == .completed } == 2 }
            await manager.shutdown()
            let next = home.manager()
            let quiet = Recorder()
            next.setDelegate(quiet)
            try await next.activate()
            await quiet.reach(.allTold)
            #expect(quiet.entries.map(\.call) == [.allTold])
            await next.shutdown()
        }
    }

    @Test("Remote manager: calls wait for a lost daemon no longer than the patience in its address")
    func patience() async throws {
        try await BackendHome.run(.daemon) { home in
            let daemon = try #require(home.daemon)
            let place = DaemonAddress.test(daemon.socket, directory: home.shop.directory)
            let clock = LeapingClock()
            let manager = DownloadManager(
                DownloadManager.Configuration(daemon: place),
                engine: EngineProvider(clock: clock) { EngineProvider().environment(for: $0) })
            try await manager.activate()
            try await daemon.stop()
            clock.leaps(by: place.patience)
            #expect(await home.shop.code { _ = try await manager.downloads() } == .daemonUnavailable)
            await manager.shutdown()
        }
    }

    @Test("Remote manager: an end while no manager of the session was connected is reported, with the file")
    func missed() async throws {
        try await BackendHome.run(.daemon) { home in
            let daemon = try #require(home.daemon)
            let gate = Gate()
            let resource = home.shop.serve(["/a"])
            home.server.always("/a", .hold(gate))
            let first = home.manager()
            let download = try await first.download(home.request("/a"))
            await gate.arrived(1)
            await first.shutdown()
            gate.open()
            // The download ends while no manager of the session is connected.
            let inside = try #require(try await daemon.manager?.download(id: download.id))
            _ = try await inside.finished()
            try await daemon.stop()
            try await daemon.start()
            let second = home.manager()
            let recorder = Recorder()
            second.setDelegate(recorder)
            try await second.activate()
            await recorder.reach(.allTold)
            #expect(recorder.entries.map(\.call) == [.completed, .allTold])
            let again = try #require(try await second.download(id: download.id))
            home.shop.expect(try await again.finished().path, is: resource)
            await second.shutdown()
        }
    }

    @Test("Remote manager: a request sent twice under one identifier is one download")
    func repeated() async throws {
        try await BackendHome.run(.daemon) { home in
            home.shop.serve(["/a"])
            let (first, second) = (home.manager(), home.manager())
            let request = try home.request("/a") {
                $0.id = DownloadID(rawValue: "one")
                $0.startsPaused = true
                $0.onDuplicate = .addAnother
            }
            async let left = first.download(request)
            async let right = second.download(request)
            let ids = try await [left.id, right.id]
            #expect(ids == [DownloadID(rawValue: "one"), DownloadID(rawValue: "one")])
            #expect(try await first.downloadCount == 1)
            await first.shutdown()
            await second.shutdown()
        }
    }

    @Test("Remote manager: changes by another manager of the session are seen, other sessions are not")
    func shared() async throws {
        try await BackendHome.run(.daemon) { home in
            home.shop.serve(["/a", "/b"])
            let (first, second, stranger) = (home.manager(), home.manager(), home.manager("other"))
            let changes = second.listChanges
            try await second.activate()
            let download = try await first.download(home.request("/a") { $0.startsPaused = true })
            for await change in changes where change.added.contains(download.id) { break }
            let seen = try #require(try await second.download(id: download.id))
            #expect(try await stranger.download(id: download.id) == nil)
            #expect(try await stranger.downloadCount == 0)
            try await seen.change { $0.label = "Ein Lied" }
            #expect(await first.handleShows(download) { $0.label == "Ein Lied" })
            try await seen.resume()
            _ = try await download.finished()
            _ = try await seen.finished()
            try await seen.remove()
            #expect(await home.shop.code { _ = try await first.handleIsGone(download) } == nil)
            await first.shutdown()
            await second.shutdown()
            await stranger.shutdown()
        }
    }
}

extension DownloadManager {
    /// Waits until the handle shows such a request, which the daemon's event brings.
    fileprivate func handleShows(_ download: Download, _ isSuch: (DownloadRequest) -> Bool) async -> Bool {
        let changes = listChanges
        if isSuch(download.request) { return true }
        for await _ in changes where isSuch(download.request) { return true }
        return false
    }

    /// Returns once this manager does not list the download any longer.
    fileprivate func handleIsGone(_ download: Download) async throws -> Bool {
        let changes = listChanges
        while try await self.download(id: download.id) != nil {
            for await _ in changes { break }
        }
        return true
    }
}

/// A clock on which, after `leaps(by:)`, each read is this much later than the last.
private final class LeapingClock: EngineClock {
    private let system = SystemClock()
    private let state = Mutex((leap: Duration.zero, sum: Duration.zero))

    func leaps(by leap: Duration) { state.withLock { $0.leap = leap } }

    func now() -> Duration {
        system.now()
            + state.withLock { state in
                state.sum += state.leap
                return state.sum
            }
    }

    func date() -> Date { system.date() }

    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
}
