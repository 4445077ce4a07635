import FerryTesting
import FerryUI
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Release of managers and downloads", .timeLimit(.minutes(30)))
struct ReleaseTests {
    nonisolated private final class Delegate: DownloadManagerDelegate {}

    /// Weak references to all objects that must be released.
    private struct Rests {
        weak var manager: DownloadManager?
        weak var scheduler: Scheduler?
        weak var engine: EngineProvider?
        weak var delegate: Delegate?
        weak var handle: Download?
        weak var live: LiveDownload?
        weak var driver: DownloadDriver?
        weak var run: Run?

        var left: [String] {
            var left: [String] = []
            if manager != nil { left.append("manager") }
            if scheduler != nil { left.append("scheduler") }
            if engine != nil { left.append("engine") }
            if delegate != nil { left.append("delegate") }
            if handle != nil { left.append("download") }
            if live != nil { left.append("live download") }
            if driver != nil { left.append("driver") }
            if run != nil { left.append("run") }
            return left
        }

        mutating func note(_ download: Download) {
            handle = download
            live = download.live
            driver = download.live.driver
            run = download.manager.scheduler?.queue.run(of: download.id)
        }
    }

    /// A task releases its captures a moment after the code that awaits it continues.
    private func expectNothingLeft(_ rests: () -> Rests, sourceLocation: SourceLocation = #_sourceLocation) async {
        // The objects left after the time-out are reported below.
        try? await eventually { rests().left.isEmpty }
        #expect(rests().left == [], sourceLocation: sourceLocation)
    }

    private func fill(_ rests: inout Rests, _ manager: DownloadManager) {
        rests.manager = manager
        rests.scheduler = manager.scheduler
        rests.engine = manager.scheduler?.engine
    }

    @Test("Release: after shutdown manager, downloads and delegate are released", arguments: [true, false])
    func afterShutdown(isKept: Bool) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(gate)])
            shop.serve(["/b"], [.stall(after: 1_000_000)])
            var rests = Rests()
            do {
                let manager = isKept ? shop.kept() : shop.manager()
                fill(&rests, manager)
                let delegate = Delegate()
                rests.delegate = delegate
                manager.setDelegate(delegate)
                let first = try await manager.download(try shop.single("/a"))
                let second = try await manager.download(try shop.single("/b"))
                await shop.reach(1_000_000, second)
                await gate.arrived()
                rests.note(second)
                let token = first.observe { _ in }
                let progress = second.makeProgress()
                // Otherwise the request after the pause would be held.
                await gate.arrived(1)
                try await first.pause()
                try await first.resume()
                try await shop.expectAll([first], are: resource)
                #expect(rests.left.count == 8)
                await manager.shutdown()
                withExtendedLifetime((token, progress)) {}
            }
            await expectNothingLeft { rests }
        }
    }

    @Test(
        "Release: after all downloads have ended and a shutdown manager and downloads are released",
        arguments: [true, false])
    func afterTheEnd(isKept: Bool) async throws {
        try await Workshop.run { shop in
            let (gate, small) = (Gate(), Gate())
            let resource = shop.serve(["/a"], [.hold(gate)])
            let other = shop.serve(["/b"], size: 30_000, [.hold(small)])
            var rests = Rests()
            do {
                let manager = isKept ? shop.kept() : shop.manager()
                fill(&rests, manager)
                let first = try await manager.download(try shop.single("/a"))
                let second = try await manager.download(try shop.single("/b"))
                await gate.arrived()
                rests.note(first)
                #expect(rests.run != nil && rests.driver != nil)
                gate.open()
                small.open()
                try await shop.expectAll([first], are: resource)
                try await shop.expectAll([second], are: other)
                await manager.shutdown()
            }
            await expectNothingLeft { rests }
        }
    }

    @Test("Release: the last reference to a manager shuts it down, and the next manager resumes its downloads")
    func lastReference() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            var rests = Rests()
            let id: DownloadID
            do {
                let manager = shop.kept()
                fill(&rests, manager)
                let download = try await manager.download(try shop.single("/a"))
                await shop.reach(1_000_000, download)
                rests.note(download)
                id = download.id
            }
            // The first manager is still shutting down.
            let next = shop.kept()
            let again = try #require(try await next.download(id: id))
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            await next.shutdown()
            await expectNothingLeft { rests }
        }
    }

    @Test("Release: a download handle keeps its manager alive, an event sequence does not")
    func holders() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            weak var weakManager: DownloadManager?
            var events: AsyncStream<DownloadEvent>?
            var download: Download?
            do {
                let manager = shop.kept()
                weakManager = manager
                events = manager.events
                download = try await manager.download(try shop.single("/a"))
            }
            if let download { await shop.reach(1_000_000, download) }
            #expect(weakManager != nil)
            #expect(download?.status.state == .downloading)
            download = nil
            // The stream ends with the manager.
            if let events { _ = await shop.told(events) }
            events = nil
            #expect(weakManager == nil)
        }
    }
}
