import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Failures in the queue", .timeLimit(.minutes(30)))
struct FailureTests {
    private func isFailed(_ event: DownloadEvent) -> Bool {
        if case .failed = event.kind { true } else { false }
    }

    @Test(
        "Disk full: a download waits for space without a slot and starts by itself when there is room (B3)",
        arguments: [true, false])
    func diskFull(isFullBefore: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let clock = SteppedClock()
            let isFull = Atomic(true)
            let disk = FaultyFileSystem { operation, path in
                guard isFull.load(ordering: .relaxed) else { return nil }
                switch operation {
                case .measureSpace: return isFullBefore ? .noSpace : nil
                case .allocate: return path.string.hasSuffix("/a.part") ? .noSpace : nil
                default: return nil
                }
            }
            let manager = shop.kept(engine: shop.engine(fileSystem: disk, clock: clock)) {
                $0.maxConcurrentDownloads = 1
            }
            let events = manager.events
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(download) { $0 == .waiting(.diskSpace) }
            #expect(download.status.state == .waiting(.diskSpace))
            #expect(shop.files == [])
            if !isFullBefore {
                let other = try await manager.download(try shop.single("/b"))
                try await shop.expectAll([other], are: resource)
            }
            isFull.store(false, ordering: .relaxed)
            clock.jump(.seconds(60))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
            let told = await shop.told(events)
            #expect(!told.contains(where: isFailed))
            #expect(
                told.contains { if case .waiting(.diskSpace, _) = $0.kind { $0.id == download.id } else { false } })
        }
    }

    @Test("Disk full: a download that fills the disk keeps its bytes and resumes when there is room")
    func diskFullLater() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 20_000_000)
            let clock = SteppedClock()
            let isFull = Atomic(true)
            let writes = Atomic(0)
            let disk = FaultyFileSystem { operation, path in
                guard isFull.load(ordering: .relaxed) else { return nil }
                if operation == .write, path.string.hasSuffix("/a.part") {
                    return writes.add(1, ordering: .relaxed).oldValue > 20 ? .noSpace : nil
                }
                return nil
            }
            let manager = shop.kept(engine: shop.engine(fileSystem: disk, clock: clock))
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(download) { $0 == .waiting(.diskSpace) }
            let held = download.status.bytes
            #expect(held > 0)
            // Pause and resume try again at once, with the same bytes.
            try await download.pause()
            #expect(download.status.state == .paused)
            isFull.store(false, ordering: .relaxed)
            try await download.resume()
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range?.hasPrefix("bytes=\(held)-") == true)
            await manager.shutdown()
        }
    }

    @Test("Disk full: a row says what is missing now, and of a file of unknown length that it is the least")
    func diskFullFigures() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .chunked())
            let clock = SteppedClock()
            let free = Atomic(5000)
            let disk = FaultyFileSystem(
                .none,
                measured: {
                    FileSystemSpace(freeBytes: ByteCount(free.load(ordering: .relaxed)), totalBytes: 1_000_000_000)
                })
            let manager = shop.kept(engine: shop.engine(fileSystem: disk, clock: clock)) { $0.minFreeBytes = 10_000 }
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(download) { $0 == .waiting(.diskSpace) }
            #expect(download.status.waitError?.message.contains("5.0 KB free, at least 5.0 KB missing") == true)
            free.store(8000, ordering: .relaxed)
            for await status in download.updates {
                if status.waitError?.message.contains("8.0 KB free, at least 2.0 KB missing") == true { break }
                clock.jump(.seconds(6))
            }
            free.store(900_000_000, ordering: .relaxed)
            clock.jump(.seconds(60))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Failure: held bytes stay, and resume fetches only the rest")
    func keepsBytes() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            shop.server.script("/a", [.cut(after: 1_000_000)], then: .drop(.reset))
            let manager = shop.kept(engine: shop.engine()) { $0.maxRetries = 2 }
            let events = manager.events
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .network)
            let held = download.status.bytes
            #expect(held > 0)
            #expect(shop.files == ["a.part", "a.part.ferry"])
            shop.server.always("/a", .honest)
            try await download.resume()
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=\(held)-2999999")
            await manager.shutdown()
            let ends = await shop.told(events).filter(\.kind.isEnd)
            #expect(ends.count == 2)
            #expect(ends.map(\.number) == [1, 2])
        }
    }

    @Test(
        "Failure: a download that ends while the list's disk is full waits for space, and completes when there is room",
        .enabled(if: SmallDisk.isPossible, "no right to mount a disk"))
    func listDiskFull() async throws {
        try await Workshop.run { shop in
            try await SmallDisk.with(shop.directory + "/state") { disk in
                let gate = Gate()
                let resource = shop.serve(["/a"])
                shop.server.script("/a", [.hold(after: 1_000_000, gate)])
                let manager = shop.kept()
                let download = try await manager.download(try shop.single("/a"))
                await shop.reach(1_000_000, download)
                try disk.fill()
                gate.open()
                await shop.reach(download) { $0 == .waiting(.diskSpace) }
                #expect(download.status.waitError?.code == .diskFull)
                // Reads see the change that the disk has refused; an action of the user is refused with the reason.
                let store = try await #require(manager.scheduler).opened()
                #expect(try await store.row(download.id)?.state == .waiting(.diskSpace))
                #expect(await shop.code { try await download.pause() } == .diskFull)
                let asked = shop.asked
                try disk.makeRoom()
                try await shop.expectAll([download], are: resource)
                #expect(shop.asked == asked, "the bytes are there")
                await manager.shutdown()
                let second = shop.kept()
                #expect(try await second.downloads().map(\.status.state.kind) == [.completed])
                await second.shutdown()
            }
        }
    }

    @Test("Failure: with retriesFailedAfter a failed download is tried again by itself until it succeeds")
    func retriesFailed() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b"])
            shop.server.script("/a", [.cut(after: 1_000_000)], then: .status(503))
            let manager = shop.kept(engine: shop.engine(clock: clock)) {
                $0.maxConcurrentDownloads = 1
                $0.maxRetries = 1
                $0.retriesFailedAfter = .seconds(600)
            }
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            let other = try await manager.download(try shop.single("/b"))
            try await shop.expectAll([other], are: resource)
            guard case .failed = download.status.state else { Issue.record("\(download.status.state)"); return }
            // The second attempt fails, the third completes.
            let gate = Gate()
            shop.server.script("/a", [.status(503).and(.hold(gate))], then: .status(503))
            clock.jump(.seconds(601))
            await gate.arrived()
            // The download runs again, so clear does not remove it.
            try await manager.clear(.failed)
            #expect(try await manager.downloads() == [download, other])
            gate.open()
            await shop.reach(download) { if case .failed = $0 { true } else { false } }
            shop.server.always("/a", .honest)
            clock.jump(.seconds(601))
            _ = try await shop.server.waitFor { $0.requests.last?.path == "/a" && $0.requests.last?.status == 206 }
            await shop.reach(download) { $0 == .completed(.strong) }
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range?.hasPrefix("bytes=") == true)
            await manager.shutdown()
        }
    }

    @Test(
        "Failure: retriesFailedAfter applies to a download that failed before it was set, from its end on",
        arguments: [true, false])
    func retriesEarlierFailure(isOver: Bool) async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .status(503))
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxRetries = 1 }
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            #expect(download.status.retryAt == nil)
            shop.server.always("/a", .honest)
            if isOver { clock.jump(.seconds(700)) }
            await manager.configure { $0.retriesFailedAfter = .seconds(600) }
            if !isOver {
                let left = try #require(download.status.retryAt).timeIntervalSince(clock.date())
                #expect(left > 300 && left <= 600)
                clock.jump(.seconds(601))
            }
            _ = try await shop.server.waitFor { $0.requests.last?.status == 200 }
            await shop.reach(download) { if case .completed = $0 { true } else { false } }
            try await shop.expectAll([download], are: resource)
            #expect(download.status.retryAt == nil)
            await manager.shutdown()
        }
    }

    @Test("Failure: a failed download is not retried once the setting is removed, nor after a permanent error")
    func retriesNoMore() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b", "/gone"])
            shop.server.always("/a", .status(503))
            shop.server.always("/gone", .status(404))
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxRetries = 1 }
            let gone = try await manager.download(try shop.elsewhere("/gone"))
            #expect(await shop.code { _ = try await gone.finished() } == .refused)
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            await manager.configure { $0.retriesFailedAfter = .seconds(600) }
            #expect(download.status.retryAt != nil && gone.status.retryAt == nil)
            await manager.configure { $0.retriesFailedAfter = nil }
            #expect(download.status.retryAt == nil)
            clock.jump(.seconds(601))
            let other = try await manager.download(try shop.single("/b"))
            try await shop.expectAll([other], are: resource)
            // One request, and one more attempt.
            #expect(shop.asked == ["/gone", "/a", "/a", "/b"])
            #expect([download, gone].allSatisfy { $0.status.state.isFailed })
            await manager.shutdown()
        }
    }

    @Test(
        "Failure: after a relaunch failed downloads are retried by the new setting, unless a pause of all stopped that",
        arguments: [true, false])
    func retriesAfterRelaunch(isStopped: Bool) async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .status(503))
            func manager(_ delay: Duration?) -> DownloadManager {
                shop.kept(engine: shop.engine(clock: clock)) {
                    $0.maxRetries = 1
                    $0.retriesFailedAfter = delay
                }
            }
            let first = manager(isStopped ? .seconds(600) : nil)
            let failed = try await first.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await failed.finished() } == .refused)
            #expect((failed.status.retryAt != nil) == isStopped)
            if isStopped { try await first.pauseAll() }
            #expect(failed.status.retryAt == nil)
            await first.shutdown()
            shop.server.always("/a", .honest)
            clock.jump(.seconds(700))
            let second = manager(.seconds(600))
            let download = try #require(try await second.downloads().first)
            if isStopped {
                await second.configure { $0.retriesFailedAfter = .seconds(60) }
                #expect(download.status.state.isFailed && download.status.retryAt == nil)
                try await download.resume()
            }
            _ = try await shop.server.waitFor { $0.requests.last?.status == 200 }
            await shop.reach(download) { if case .completed = $0 { true } else { false } }
            try await shop.expectAll([download], are: resource)
            await second.shutdown()
        }
    }

    @Test("Failure: a pause of all also stops a retry that is due and waits for a slot")
    func pausesDueRetry() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            shop.serve(["/a", "/b"])
            shop.server.always("/a", .status(503))
            shop.server.script("/b", [.hold(gate)])
            let manager = shop.kept(engine: shop.engine(clock: clock)) {
                $0.maxConcurrentDownloads = 1
                $0.maxRetries = 1
                $0.retriesFailedAfter = .seconds(600)
            }
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            let other = try await manager.download(try shop.elsewhere("/b"))
            await gate.arrived()
            clock.jump(.seconds(601))
            try await manager.pauseAll()
            #expect(other.status.state == .paused)
            #expect(download.status.state.isFailed && download.status.retryAt == nil)
            gate.open()
            await manager.shutdown()
            // One request, and one more attempt.
            #expect(shop.asked == ["/a", "/a", "/b"])
        }
    }

    @Test("Failure: resume of a failed download starts it at once instead of at the retry date")
    func resumesFailed() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .status(503))
            let manager = shop.kept(engine: shop.engine(clock: clock)) {
                $0.maxRetries = 1
                $0.retriesFailedAfter = .seconds(600)
            }
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            shop.server.always("/a", .honest)
            try await download.resume()
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Failure: an automatic retry that is due while a resume is stored does not begin")
    func resumesAtRetry() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"])
            shop.server.always("/a", .status(503))
            shop.server.script("/b", [.hold(gate)])
            let manager = shop.kept(engine: shop.engine(clock: clock)) {
                $0.maxRetries = 1
                $0.retriesFailedAfter = .seconds(600)
            }
            let download = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await download.finished() } == .refused)
            shop.server.always("/a", .honest)
            let scheduler = try #require(manager.scheduler)
            let store = try await scheduler.held { $0.isUpdate }
            // This download is due together with the retry, and behind it.
            let other = try await manager.download(
                try shop.single("/b") { $0.notBefore = clock.date().addingTimeInterval(600) })
            async let resuming: Void = download.resume()
            await store.arrived()
            clock.jump(.seconds(1200))
            await gate.arrived()
            #expect(scheduler.queue.run(of: download.id) == nil)
            store.open()
            try await resuming
            gate.open()
            try await shop.expectAll([download, other], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Failure: resumeAll tries failed downloads again, with handles or without", arguments: [true, false])
    func resumesAllFailed(isKnown: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            for path in ["/a", "/b"] { shop.server.always(path, .status(404)) }
            var manager = shop.kept()
            var downloads = [try await manager.download(try shop.single("/a"))]
            downloads.append(try await manager.download(try shop.single("/b")))
            for download in downloads { #expect(await shop.code { _ = try await download.finished() } == .refused) }
            if !isKnown {
                await manager.shutdown()
                manager = shop.kept()
            }
            for path in ["/a", "/b"] { shop.server.always(path, .honest) }
            try await manager.resumeAll()
            try await shop.expectAll(try await manager.downloads(), are: resource)
            await manager.shutdown()
        }
    }

    @Test("Failure: resumeAll tries downloads at once that wait for their next attempt", arguments: [true, false])
    func resumesAllRetries(isKnown: Bool) async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b"])
            for path in ["/a", "/b"] { shop.server.always(path, .status(503, retryAfter: "3000")) }
            var manager = shop.kept(engine: shop.engine(clock: clock))
            let downloads = [
                try await manager.download(shop.elsewhere("/a")), try await manager.download(try shop.single("/b")),
            ]
            for download in downloads {
                await shop.reach(download) { if case .waiting(.retry) = $0 { true } else { false } }
            }
            if !isKnown {
                await manager.shutdown()
                manager = shop.kept(engine: shop.engine(clock: clock))
            }
            for path in ["/a", "/b"] { shop.server.always(path, .honest) }
            let result = try await manager.perform(.resume(), on: nil, session: nil)
            // After the shutdown they wait for nothing but a slot.
            #expect(result.changed == (isKnown ? Set(downloads.map(\.id)) : []), "\(result)")
            try await shop.expectAll(try await manager.downloads(), are: resource)
            await manager.shutdown()
        }
    }

    @Test("Failure: pause, cancel and shutdown are never reported as failed, in any phase")
    func neverFailed() async throws {
        try await Workshop.run { shop in
            shop.serve(["/head"], [.hold(Gate())])
            shop.serve(["/body"], [.stall(after: 1_000_000)])
            shop.serve(["/small"], size: 200_000, [.stall(after: 100_000)])
            shop.serve(["/retry"])
            shop.server.always("/retry", .status(503, retryAfter: "3000"))
            shop.serve(["/wait"])
            shop.server.always("/wait", .hold(Gate()))
            let paths = ["/head", "/body", "/small", "/retry", "/wait"]
            for turn in 0..<3 {
                for path in paths.prefix(3) {
                    let size: Int64 = path == "/small" ? 100_000 : 1_000_000
                    shop.server.script(path, path == "/head" ? [.hold(Gate())] : [.stall(after: size)])
                }
                let manager = shop.kept("turn\(turn)") { $0.maxConcurrentDownloads = 4 }
                let events = manager.events
                let all = try await manager.download(
                    paths.map { path in
                        try (path == "/retry" ? shop.elsewhere : shop.single)(path) {
                            $0.destination = .directory(shop.path("d\(turn)"))
                        }
                    })
                await shop.reach(1_000_000, all[1])
                await shop.reach(100_000, all[2])
                await shop.reach(all[3]) { if case .waiting(.retry) = $0 { true } else { false } }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for download in all {
                        switch turn {
                        case 0: group.addTask { try await download.pause() }
                        case 1: group.addTask { try await download.cancel() }
                        default: break
                        }
                    }
                    try await group.waitForAll()
                }
                await manager.shutdown()
                let told = await shop.told(events)
                #expect(!told.contains(where: isFailed))
                for download in all {
                    switch turn {
                    case 0: #expect(download.status.state == .paused)
                    case 1: #expect(download.status.state == .cancelled)
                    default: #expect(!download.status.state.isFinal)
                    }
                }
                let ends = told.filter(\.kind.isEnd)
                #expect(ends.count == (turn == 1 ? paths.count : 0))
            }
        }
    }
}
