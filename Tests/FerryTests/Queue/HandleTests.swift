import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Download handles", .timeLimit(.minutes(30)))
struct HandleTests {
    @Test(
        "Handle: progress after a resume starts at the held offset and never falls below it", arguments: [false, true])
    func offsetFirst(isRelaunched: Bool) async throws {
        try await Workshop.run { shop in
            let (before, middle) = (Gate(), Gate())
            let resource = shop.serve(
                ["/a"], [.stall(after: 1_000_000), .all(.hold(before), .hold(after: 500_000, middle))])
            var manager = shop.kept()
            var download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            try await download.pause()
            #expect(download.status.bytes == 1_000_000)
            if isRelaunched {
                await manager.shutdown()
                manager = shop.kept()
                download = try #require(try await manager.downloads().first)
            }
            #expect(download.status.bytes == 1_000_000)
            #expect(download.status.progress.totalBytes == resource.size)
            try await download.resume()
            let seen = Task { [download] in
                var all: [Int64] = []
                for await status in download.updates { all.append(status.bytes) }
                return all
            }
            await before.arrived()
            #expect(download.status.bytes == 1_000_000)
            before.open()
            await shop.reach(1_500_000, download)
            middle.open()
            try await shop.expectAll([download], are: resource)
            let values = await seen.value
            #expect(values.first == 1_000_000)
            #expect(values.allSatisfy { $0 >= 1_000_000 })
            #expect(values == values.sorted())
            #expect(values.last == resource.size)
            await manager.shutdown()
        }
    }

    @Test("Handle: every observer gets the final status, also when it starts after the end")
    func observers() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await withTaskGroup(of: DownloadState?.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        var last: DownloadState?
                        for await status in download.updates { last = status.state }
                        return last
                    }
                }
                for await last in group { #expect(last == .completed(.single)) }
            }
            var late: [DownloadStatus] = []
            for await status in download.updates { late.append(status) }
            #expect(late == [download.status])
            #expect(download.status.bytes == resource.size)
            await manager.shutdown()
        }
    }

    @Test("Handle: a waiting task gets a cancel as an error, and its own cancellation leaves the download running")
    func waiting() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            let impatient = Task { await shop.code { _ = try await download.finished() } }
            impatient.cancel()
            #expect(await impatient.value == .cancelled)
            #expect(download.status.state == .downloading)
            async let end = shop.code { _ = try await download.finished() }
            try await download.cancel()
            #expect(await end == .cancelled)
            #expect(shop.files == [])
            #expect(try await manager.downloads() == [download])
            await manager.shutdown()
        }
    }

    @Test("Handle: a pause before the first byte holds, for a running and a waiting download")
    func pauseEarly() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a", "/b"], [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download(["/a", "/b"].map { try shop.single($0) })
            await gate.arrived()
            // A running download and one that waits for a slot.
            try await downloads[1].pause()
            try await downloads[0].pause()
            #expect(downloads.allSatisfy { $0.status.state == .paused && $0.status.bytes == 0 })
            gate.open()
            let other = try await manager.download(try shop.single("/c") { $0.startsPaused = true })
            _ = try await shop.server.waitFor { $0.activeRequests == 0 }
            #expect(shop.asked == ["/a"])
            #expect(shop.files == [])
            try await other.remove()
            for download in downloads { try await download.resume() }
            try await shop.expectAll(downloads, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Handle: restart of a completed download replaces its file, restart of a cancelled one fetches it")
    func restart() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept()
            let completed = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([completed], are: resource)
            try await completed.restart()
            try await shop.expectAll([completed], are: resource)
            #expect(shop.files == ["a"])
            let cancelled = try await manager.download(try shop.single("/b") { $0.startsPaused = true })
            try await cancelled.cancel()
            try await cancelled.restart()
            try await shop.expectAll([cancelled], are: resource)
            #expect(shop.files == ["a", "b"])
            await manager.shutdown()
        }
    }

    /// Each call that `state` does not allow.
    private func tryAll(_ download: Download, _ shop: Workshop) async {
        let before = download.status
        let requests = shop.server.traffic.requestCount
        let files = shop.files
        for action in DownloadAction.allCases where !before.actions.contains(action) {
            let state = before.state
            switch action {
            case .resume:
                let holds = state == .downloading || state == .verifying
                #expect(await shop.code { try await download.resume() } == (holds ? nil : .wrongState), "\(state)")
            case .pause:
                let holds = state == .paused
                #expect(await shop.code { try await download.pause() } == (holds ? nil : .wrongState), "\(state)")
            case .cancel:
                let holds = state == .cancelled
                #expect(await shop.code { try await download.cancel() } == (holds ? nil : .wrongState), "\(state)")
            case .restart: #expect(await shop.code { try await download.restart() } == .wrongState, "\(state)")
            case .change:
                #expect(await shop.code { try await download.change { $0.priority = .high } } == .wrongState)
                let someone = Credentials(user: "u", password: "p")
                #expect(await shop.code { try await download.provide(credentials: someone) } == .wrongState)
            case .remove: Issue.record("each may be removed")
            }
            #expect(download.status.state == before.state, "after \(action)")
            #expect(download.request.priority == .normal)
        }
        if !before.actions.contains(.cancel) {
            #expect(await shop.code { _ = try await download.cancelByProducingResumeData() } == .wrongState)
        }
        #expect(download.status.state == before.state)
        #expect(download.status.bytes == before.bytes)
        #expect(shop.server.traffic.requestCount == requests)
        #expect(shop.files == files)
    }

    @Test("Handle: a call that the state forbids throws, one whose result holds does not, and both change nothing")
    func table() async throws {
        try await Workshop.run { shop in
            shop.serve(["/run"], [.stall(after: 1_000_000)])
            shop.serve(["/wait", "/pause", "/cancel"])
            let done = shop.serve(["/done"])
            shop.server.serve("/fail", done)
            shop.server.always("/fail", .status(503))
            shop.server.serve("/link", done)
            shop.server.script("/link", [.cut(after: 1_000_000)], then: .status(403))
            let manager = shop.kept(engine: shop.engine()) {
                $0.maxConcurrentDownloads = 1
                $0.maxRetries = 1
            }
            let completed = try await manager.download(try shop.single("/done"))
            try await shop.expectAll([completed], are: done)
            let failed = try await manager.download(try shop.single("/fail"))
            await shop.reach(failed) { _ in false }
            let link = try await manager.download(try shop.single("/link"))
            await shop.reach(link) { $0 == .waiting(.freshLink) }
            let running = try await manager.download(try shop.single("/run"))
            await shop.reach(1_000_000, running)
            let waiting = try await manager.download(try shop.single("/wait"))
            let paused = try await manager.download(try shop.single("/pause") { $0.startsPaused = true })
            let cancelled = try await manager.download(try shop.single("/cancel"))
            try await cancelled.cancel()
            let all = [completed, failed, link, running, waiting, paused, cancelled]
            #expect(
                all.map(\.status.state.kind) == [
                    .completed, .failed, .waiting, .downloading, .waiting, .paused, .cancelled,
                ])
            for download in all { await tryAll(download, shop) }
            await manager.shutdown()
        }
    }

    @Test("Handle: a call that verifying forbids throws and changes nothing")
    func verifying() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            // The existing file is verified before the first request.
            try shop.write("mine", to: "a")
            let go = DispatchSemaphore(value: 0)
            let isFirst = Atomic(true)
            let disk = FaultyFileSystem { operation, path in
                if operation == .read, path.string.hasSuffix("/a"), isFirst.exchange(false, ordering: .relaxed) {
                    go.wait()
                }
                return nil
            }
            let manager = shop.kept(engine: shop.engine(fileSystem: disk))
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let download = try await manager.download(try shop.single("/a") { $0.checksum = checksum })
            await shop.reach(download) { $0 == .verifying }
            #expect(download.status.state == .verifying)
            if download.status.state == .verifying { await tryAll(download, shop) }
            go.signal()
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Handle: calls on a removed download throw and change nothing")
    func removed() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([download], are: resource)
            try await download.remove()
            let requests = shop.server.traffic.requestCount
            #expect(await shop.code { try await download.restart() } == .notFound)
            #expect(await shop.code { try await download.resume() } == .notFound)
            #expect(await shop.code { try await download.moveInList(to: .first) } == .notFound)
            #expect(await shop.code { try await download.change { $0.label = "x" } } != nil)
            #expect(try await manager.downloadCount == 0)
            #expect(shop.server.traffic.requestCount == requests)
            // The same request can be added again.
            let again = try await manager.download(try shop.single("/a"))
            #expect(again != download)
            try await shop.expectAll([again], are: resource)
            await manager.shutdown()
        }
    }
}
