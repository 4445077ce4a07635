import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// The contract of a manager for all its downloads and over its life, for both backends.
@Suite("Life of every backend", .timeLimit(.minutes(30)))
struct BackendLifeTests {
    @Test("Backend: pauseAll pauses and resumeAll completes all downloads", arguments: BackendKind.allCases)
    func all(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let paths = (0..<5).map { "/\($0)" }
            let resource = home.shop.serve(paths, [.stall(after: 1_000_000)])
            let manager = home.manager()
            let downloads = try await manager.download(paths.map { try home.request($0) })
            await home.shop.reach(1_000_000, downloads[0])
            try await manager.pauseAll()
            #expect(downloads.map(\.status.state) == Array(repeating: .paused, count: 5))
            for path in paths { home.server.always(path, .honest) }
            try await manager.resumeAll()
            try await home.shop.expectAll(downloads, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Backend: relocate moves the files of a running and of a completed download", arguments: BackendKind.allCases)
    func relocated(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            try await download.moveFiles(to: home.shop.path("x"))
            #expect(try await download.finished().path == home.shop.path("x/a"))
            home.shop.expect(home.shop.path("x/a"), is: resource)
            try await download.moveFiles(to: home.shop.path("y"))
            #expect(download.status.path == home.shop.path("y/a"))
            home.shop.expect(home.shop.path("y/a"), is: resource)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: the concurrency limit applies at once when it is set and when it is raised",
        arguments: BackendKind.allCases)
    func limited(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            home.shop.serve(["/a", "/b"])
            for path in ["/a", "/b"] { home.server.always(path, .hold(gate)) }
            let manager = home.manager()
            await manager.configure { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download([home.request("/a"), home.request("/b")])
            await gate.arrived(1)
            await home.reach(downloads[0]) { $0 == .downloading }
            #expect(downloads[1].status.state == .waiting(.slot))
            await manager.configure { $0.maxConcurrentDownloads = 2 }
            await gate.arrived(2)
            await home.reach(downloads[1]) { $0 == .downloading }
            gate.open()
            for download in downloads { _ = try await download.finished() }
            #expect(manager.configuration.maxConcurrentDownloads == 2)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: a configure closure may read the manager, and concurrent calls lose no change",
        arguments: BackendKind.allCases)
    func configuredByItself(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let manager = home.manager { $0.maxConcurrentDownloads = 4 }
            await manager.configure {
                $0.allowsMeteredNetwork = manager.network.isMetered
                $0.maxConcurrentDownloads = manager.configuration.maxConcurrentDownloads * 2
            }
            #expect(!manager.configuration.allowsMeteredNetwork)
            #expect(manager.configuration.maxConcurrentDownloads == 8)
            // Concurrent calls run one after another, so that no change is lost.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { await manager.configure { $0.maxConcurrentDownloads += 1 } }
                }
            }
            #expect(manager.configuration.maxConcurrentDownloads == 28)
            await manager.shutdown()
        }
    }

    @Test("Backend: a plan has name, size and range support, and adds no download", arguments: BackendKind.allCases)
    func planned(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let plan = try await manager.plan(home.request("/a"))
            #expect(plan.name == "a")
            #expect(plan.totalBytes == BackendConformanceTests.size)
            #expect(plan.acceptsRanges)
            #expect(home.shop.files == [])
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: finishAndShutDown completes running downloads and refuses new ones", arguments: BackendKind.allCases)
    func drained(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            let resource = home.shop.serve(["/a", "/b"], [.hold(gate)])
            let manager = home.manager()
            let downloads = try await manager.download([home.request("/a"), home.request("/b")])
            _ = try await manager.download(home.request("/c") { $0.startsPaused = true })
            await gate.arrived(2)
            async let isOver: Void = manager.finishAndShutDown()
            gate.open()
            await isOver
            #expect(await home.shop.code { _ = try await manager.download(home.request("/d")) } == .shutDown)
            for download in downloads { home.shop.expect(download.status.path ?? "", is: resource) }
        }
    }

    @Test(
        "Backend: the delegate gets calls in order, and listChanges has the added download",
        arguments: BackendKind.allCases)
    func told(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = home.manager()
            let recorder = Recorder()
            manager.setDelegate(recorder)
            try await manager.activate()
            await recorder.reach(.allTold)
            let changes = manager.listChanges
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            await recorder.reach(.progress)
            try await download.pause()
            await recorder.reach(.paused)
            try await download.resume()
            await recorder.reach(.completed)
            #expect(recorder.milestones(of: download.id) == [.started, .paused, .resumed, .completed])
            #expect(recorder.isInOrder(download.id))
            #expect(recorder.overlaps == 0)
            #expect(recorder.strangers == 0)
            #expect(recorder.entries.count { $0.call == .allTold } == 1)
            var seen = ListChange()
            for await change in changes {
                seen.merge(change)
                if seen.added.contains(download.id) { break }
            }
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: unacknowledged ends are reported again with the same number, acknowledged ones never",
        arguments: BackendKind.allCases)
    func toldAgain(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a", "/b"])
            let first = home.manager()
            for path in ["/a", "/b"] { _ = try await first.download(home.request(path)).finished() }
            await first.shutdown()
            let second = home.manager()
            var numbers: [Int64] = []
            let events = second.events
            try await second.activate()
            for await event in events {
                guard let number = event.number else { continue }
                numbers.append(number)
                if numbers.count == 2 {
                    event.acknowledge()
                    break
                }
            }
            #expect(numbers == numbers.sorted())
            await second.shutdown()
            let third = home.manager()
            let recorder = Recorder()
            third.setDelegate(recorder)
            let again = third.events
            try await third.activate()
            await recorder.reach(.allTold)
            #expect(recorder.entries.map(\.call) == [.completed, .allTold])
            await third.shutdown()
            #expect(await home.shop.told(again).compactMap(\.number) == [numbers[0]])
        }
    }

    @Test(
        "Backend: shutdown ends handles, and the next manager lists and completes the download",
        arguments: BackendKind.allCases)
    func left(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000), .hold(gate)])
            let first = home.manager()
            let download = try await first.download(home.request("/a") { $0.label = "Ein Lied" })
            await home.shop.reach(1_000_000, download)
            await first.shutdown()
            #expect(await home.shop.code { _ = try await download.finished() } == .shutDown)
            #expect(await home.shop.code { _ = try await first.downloads() } == .shutDown)
            #expect(await home.shop.code { try await download.pause() } == .shutDown)
            gate.open()
            // Not whole before it is paused.
            let later = Gate()
            home.server.always("/a", .hold(later))
            let second = home.manager()
            let again = try #require(try await second.download(id: download.id))
            #expect(again.request.label == "Ein Lied")
            // A daemon still has the first connection, which the server holds: pause and resume open another.
            try await again.resume()
            try await again.pause()
            try await again.resume()
            later.open()
            home.shop.expect(try await again.finished().path, is: resource)
            await second.shutdown()
        }
    }

    @Test("Backend: a plan in a cancelled task states what was cancelled", arguments: BackendKind.allCases)
    func cancelledPlan(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            home.shop.serve(["/a"], [.hold(gate)])
            let manager = home.manager()
            let request = try home.request("/a")
            let task = Task { try await manager.plan(request) }
            await gate.arrived()
            task.cancel()
            await #expect {
                _ = try await task.value
            } throws: {
                let error = $0 as? DownloadError
                return error?.code == .cancelled && error?.message == "waiting for a was cancelled"
                    && error?.suggestion == nil
            }
            gate.open()
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: a request or a change with a value that none may have is refused, and changes nothing",
        arguments: BackendKind.allCases)
    func refused(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let listed = try await manager.download(home.request("/a") { $0.startsPaused = true })
            let before = listed.request
            let limits: [@Sendable (inout DownloadRequest) -> Void] = [
                { $0.rateLimit = 0 }, { $0.rateLimit = .max }, { $0.maxConnections = 0 },
                { $0.label = String(repeating: "x", count: 4097) },
                { $0.notBefore = Date(timeIntervalSince1970: .nan) },
                { $0.notBefore = Date(timeIntervalSince1970: .infinity) },
                { $0.notBefore = Date(timeIntervalSince1970: 1e300) },
                { $0.sources = Array(repeating: $0.sources[0], count: DownloadRequest.mostSources + 1) },
            ]
            let others: [@Sendable (inout DownloadRequest) -> Void] = [
                { $0.maxBytes = 0 }, { $0.maxBytes = -1 }, { $0.id = "" }, { $0.id = ".." }, { $0.id = "a\nb" },
                { $0.id = DownloadID(rawValue: String(repeating: "x", count: 257)) },
            ]
            for (number, set) in (limits + others).enumerated() {
                let request = try home.request("/b") { set(&$0) }
                let code = await home.shop.code { _ = try await manager.download(request) }
                #expect(code == .invalidRequest, "\(number)")
            }
            for (number, set) in limits.enumerated() {
                #expect(await home.shop.code { try await listed.change(set) } == .invalidRequest, "\(number)")
            }
            #expect(listed.request == before)
            #expect(try await manager.downloads() == [listed])
            await manager.shutdown()
        }
    }
}
