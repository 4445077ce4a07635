import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// The calls of a delegate at the start and the end of a manager, for both backends.
@Suite("Delegate of every backend", .timeLimit(.minutes(30)))
struct BackendDelegateTests {
    /// Keeps the downloads of which an end was reported.
    nonisolated private final class Keeper: DownloadManagerDelegate {
        private let kept = Mutex<[Download]>([])
        let hasHeardAll = Door()

        var ended: [Download] { kept.withLock { $0 } }

        func downloadManager(
            _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
        ) async { kept.withLock { $0.append(download) } }

        func downloadManager(_ manager: DownloadManager, didCancel download: Download) async {
            kept.withLock { $0.append(download) }
        }

        func downloadManagerDidFinishEvents(_ manager: DownloadManager) async { hasHeardAll.open() }
    }

    @Test(
        "Delegate: an end is reported after a relaunch also when the download was removed from the list",
        arguments: BackendKind.allCases)
    func removed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let first = home.manager()
            let whole = try await first.download(home.request("/a"))
            let file = try await whole.finished()
            try await whole.remove()
            let other = try await first.download(home.request("/b") { $0.startsPaused = true })
            try await other.remove()
            await first.shutdown()

            let second = home.manager()
            let keeper = Keeper()
            second.setDelegate(keeper)
            try await second.activate()
            await keeper.hasHeardAll.pass()
            #expect(keeper.ended.map(\.id) == [whole.id, other.id])
            #expect(keeper.ended.map(\.status.state) == [.completed(.single), .cancelled])
            let told = try #require(keeper.ended.first)
            #expect(told.status.name == "a")
            #expect(told.status.path == file.path)
            #expect(told.status.progress.completedBytes == file.totalBytes)
            #expect(try await told.finished().path == file.path)
            // The handle has the final state, and does not list the download again.
            #expect(await home.shop.code { try await told.restart() } == .notFound)
            #expect(await home.shop.code { try await told.remove() } == .notFound)
            #expect(try await second.downloadCount == 0)
            await second.shutdown()

            try await home.expectAllWasHandled()
        }
    }

    @Test(
        "Delegate: finishAndShutDown returns after a slow delegate has got every call", arguments: BackendKind.allCases)
    func slow(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a", "/b"])
            let door = Door()
            let slow = Recorder { if $0 == .allTold { await door.pass() } }
            let manager = home.manager()
            manager.setDelegate(slow)
            try await manager.activate()
            await slow.reach(.allTold)
            let downloads = try await manager.download([home.request("/a"), home.request("/b")])
            for download in downloads { _ = try await download.finished() }
            async let isOver: Void = manager.finishAndShutDown()
            // The manager has left the event hub; calls that were queued by then wait at the gate.
            while manager.isHeard { await Task.yield() }
            door.open()
            await isOver
            for download in downloads {
                #expect(slow.milestones(of: download.id) == [.started, .completed])
            }
            #expect(slow.overlaps == 0)
            // The delegate has handled every end.
            try await home.expectAllWasHandled()
        }
    }

    @Test(
        "Delegate: finishAndShutDown right after the start reports earlier ends, then that all were reported",
        arguments: BackendKind.allCases)
    func atOnce(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let first = home.manager()
            _ = try await first.download(home.request("/a")).finished()
            await first.shutdown()
            let second = home.manager()
            let recorder = Recorder()
            second.setDelegate(recorder)
            await second.finishAndShutDown()
            #expect(recorder.entries.map(\.call) == [.completed, .allTold])
        }
    }

    /// Calls `finishAndShutDown` or `shutdown` at the first completion.
    nonisolated private final class Leaver: DownloadManagerDelegate {
        let hasLeft = Door()
        private let finishes: Bool

        init(finishes: Bool) { self.finishes = finishes }

        func downloadManager(
            _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
        ) async {
            if finishes { await manager.finishAndShutDown() } else { await manager.shutdown() }
            hasLeft.open()
        }
    }

    @Test(
        "Delegate: finishAndShutDown and shutdown may be called in a delegate method", arguments: BackendKind.allCases,
        [true, false])
    func inside(kind: BackendKind, finishes: Bool) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let leaver = Leaver(finishes: finishes)
            manager.setDelegate(leaver)
            let download = try await manager.download(home.request("/a"))
            await leaver.hasLeft.pass()
            #expect(download.status.state == .completed(.single))
            #expect(await home.shop.code { _ = try await manager.downloads() } == .shutDown)
            withExtendedLifetime(leaver) {}

            // The end that the method handled is acknowledged.
            try await home.expectAllWasHandled()
        }
    }

    /// Replaces itself at the first completion.
    nonisolated private final class Resigner: DownloadManagerDelegate {
        let hasLeft = Door()
        private let successor: Recorder?

        init(successor: Recorder?) { self.successor = successor }

        func downloadManager(
            _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
        ) async {
            manager.setDelegate(successor)
            hasLeft.open()
        }
    }

    @Test(
        "Delegate: an event is not delivered again if its method removes or replaces the delegate",
        arguments: BackendKind.allCases, [true, false])
    func resigns(kind: BackendKind, hasSuccessor: Bool) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let successor = hasSuccessor ? Recorder() : nil
            let delegate = Resigner(successor: successor)
            manager.setDelegate(delegate)
            _ = try await manager.download(home.request("/a")).finished()
            await delegate.hasLeft.pass()
            await successor?.reach(.allTold)
            #expect(successor?.entries.contains { $0.call == .completed } != true)
            await manager.shutdown()
            withExtendedLifetime((delegate, successor)) {}
            try await home.expectAllWasHandled()
        }
    }

    @Test(
        "Delegate: the end of a removed download is reported with the handle that the app holds",
        arguments: BackendKind.allCases)
    func own(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a") { $0.label = "mine" })
            _ = try await download.finished()
            try await download.remove()
            let keeper = Keeper()
            manager.setDelegate(keeper)
            await keeper.hasHeardAll.pass()
            #expect(keeper.ended.first == download)
            #expect(keeper.ended.first?.request.label == "mine")
            await manager.shutdown()
        }
    }
}

extension DownloadManager {
    /// Whether events have a listener.
    var isHeard: Bool { backend.log.isHeard }
}
