import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// The contract of a manager, for both backends.
@Suite("Every backend of a manager", .timeLimit(.minutes(30)))
struct BackendConformanceTests {
    static let size: Int64 = 3_000_000

    @Test(
        "Backend: a download reports start and completion, and its result names the right file",
        arguments: BackendKind.allCases)
    func whole(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"])
            let manager = home.manager()
            let events = manager.events
            try await manager.activate()
            let download = try await manager.download(home.request("/a"))
            let finished = try await download.finished()
            #expect(finished.path == home.shop.path("a"))
            #expect(finished.totalBytes == resource.size)
            #expect(finished.proof == .single)
            #expect(finished.redactedFinalURL == home.server.url("/a"))
            home.shop.expect(finished.path, is: resource)
            #expect(download.status.state == .completed(.single))
            #expect(download.status.path == finished.path)
            #expect(download.status.progress.completedBytes == resource.size)
            await manager.shutdown()
            let told = await home.shop.told(events).filter { $0.id == download.id }
            let kinds = told.map(\.kind)
            #expect(kinds.first == .added(url: home.server.url("/a")))
            #expect(kinds.contains(.started(name: "a", totalBytes: resource.size)))
            #expect(kinds.last == .completed(finished))
            #expect(told.last?.number != nil)
            #expect(kinds.count { $0.isEnd } == 1)
        }
    }

    @Test(
        "Backend: observers get the final state and all bytes of a paused and resumed download",
        arguments: BackendKind.allCases)
    func observed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a") { $0.startsPaused = true })
            let updates = download.updates
            try await download.resume()
            await home.shop.reach(1_000_000, download)
            try await download.pause()
            try await download.resume()
            _ = try await download.finished()
            var states: [DownloadStatus] = []
            for await status in updates { states.append(status) }
            #expect(states.last?.state == .completed(.strong) || states.last?.state == .completed(.single))
            #expect(states.last?.progress.completedBytes == Self.size)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: pause, resume, cancel and restart change the state, have no effect where it holds, or throw",
        arguments: BackendKind.allCases
    )
    func acted(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000), .stall(after: 500_000)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            try await download.pause()
            #expect(download.status.state == .paused)
            #expect(download.status.progress.completedBytes >= 1_000_000)
            try await download.pause()
            #expect(await home.shop.code { try await download.restart() } == .wrongState)
            #expect(download.status.state == .paused)
            try await download.resume()
            #expect(download.status.state != .paused)
            await home.shop.reach(1_200_000, download)
            try await download.cancel()
            #expect(download.status.state == .cancelled)
            try await download.cancel()
            do throws(DownloadError) {
                try await download.resume()
                Issue.record("it was resumed")
            } catch {
                #expect(error.code == .wrongState)
                #expect(error.message == "a cannot be resumed: it was cancelled")
                #expect(error.message(in: .simplifiedChinese) == "无法继续 a：下载已被取消")
            }
            #expect(home.shop.files == [])
            try await download.restart()
            #expect(try await download.finished().path == home.shop.path("a"))
            home.shop.expect(home.shop.path("a"), is: resource)
            #expect(await home.shop.code { try await download.resume() } == .wrongState)
            #expect(await home.shop.code { try await download.pause() } == .wrongState)
            #expect(await home.shop.code { try await download.cancel() } == .wrongState)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: a repeated request gives the listed download, or a duplicate error under the rule fail",
        arguments: BackendKind.allCases)
    func duplicates(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let first = try await manager.download(home.request("/a") { $0.startsPaused = true })
            let second = try await manager.download(home.request("/a"))
            #expect(first == second)
            let another = try await manager.download(
                home.request("/a") {
                    $0.onDuplicate = .addAnother
                    $0.startsPaused = true
                })
            #expect(another != first)
            #expect(try await manager.downloadCount == 2)
            let strict = try home.request("/a") { $0.onDuplicate = .fail }
            do throws(DownloadError) {
                _ = try await manager.download(strict)
                Issue.record("it was added")
            } catch {
                #expect(error.code == .duplicate)
                #expect(error.message == "\(home.server.url("/a")) is listed already")
                #expect(error.message(in: .simplifiedChinese) == "\(home.server.url("/a")) 已在列表中")
                #expect(error.suggestion == "Use the listed one, or add another one on purpose.")
                #expect(error.recovery == .needsUser)
            }
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: several requests are added together, or none of them when one is invalid",
        arguments: BackendKind.allCases)
    func together(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let manager = home.manager()
            let good = try home.request("/a") { $0.startsPaused = true }
            var long = good
            long.label = String(repeating: "x", count: 5000)
            #expect(await home.shop.code { _ = try await manager.download([good, long]) } == .invalidRequest)
            #expect(try await manager.downloadCount == 0)
            let added = try await manager.download(
                (0..<5).map { number in try home.request("/\(number)") { $0.startsPaused = true } })
            #expect(added.map(\.request.sources.first?.path) == (0..<5).map { "/\($0)" })
            #expect(try await manager.downloads().map(\.id) == added.map(\.id))
            #expect(try await manager.download([DownloadRequest]()) == [])
            await manager.shutdown()
        }
    }

    @Test("Backend: downloads are listed in pages, found by id and URL, and moved", arguments: BackendKind.allCases)
    func listed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let manager = home.manager()
            var all: [Download] = []
            for name in ["a", "b", "c", "d"] {
                all.append(
                    try await manager.download(
                        home.request("/" + name) {
                            $0.startsPaused = true
                            $0.label = name
                            $0.userInfo = ["name": name]
                        }))
            }
            func labels() async throws -> [String] { try await manager.downloads().compactMap(\.request.label) }
            #expect(try await labels() == ["a", "b", "c", "d"])
            #expect(try await manager.downloads(offset: 1, limit: 2).map(\.request.label) == ["b", "c"])
            #expect(try await manager.downloads(offset: 9).isEmpty)
            try await all[3].moveInList(to: .first)
            #expect(try await labels() == ["d", "a", "b", "c"])
            try await all[3].moveInList(to: .after(all[1].id))
            #expect(try await labels() == ["a", "b", "d", "c"])
            try await all[2].moveInList(to: .before(all[0].id))
            #expect(try await labels() == ["c", "a", "b", "d"])
            try await all[2].moveInList(to: .last)
            #expect(try await labels() == ["a", "b", "d", "c"])
            try await all[1].change { $0.priority = .high }
            #expect(try await labels() == ["b", "a", "d", "c"])
            let url = try DownloadURL(home.server.url("/c"))
            #expect(try await manager.downloads(url: url) == [all[2]])
            #expect(try await manager.download(id: all[0].id) == all[0])
            #expect(try await manager.download(id: DownloadID(rawValue: "nobody")) == nil)
            #expect(all[0].request.userInfo == ["name": "a"])
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: a change is shown and used, and refused for a completed download in both languages",
        arguments: BackendKind.allCases)
    func changed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a", "/b"])
            let manager = home.manager()
            let download = try await manager.download(
                home.request("/a") {
                    $0.startsPaused = true
                    $0.rateLimit = 1000
                })
            let other = try DownloadURL(home.server.url("/b"))
            try await download.change {
                $0.rateLimit = nil
                $0.maxConnections = 2
                $0.label = "Ein Lied"
                $0.userInfo = ["album": "7"]
                $0.network.allowsMetered = false
                $0.sources = [other]
            }
            #expect(download.request.rateLimit == nil)
            #expect(download.request.maxConnections == 2)
            #expect(download.request.label == "Ein Lied")
            #expect(download.request.userInfo == ["album": "7"])
            #expect(download.request.network.allowsMetered == false)
            #expect(download.request.sources == [other])
            try await download.change {
                $0.network.allowsMetered = nil
                $0.label = nil
            }
            #expect(download.request.network == NetworkRule())
            #expect(download.request.label == nil)
            // Neither a change that throws nor one of a property that cannot be changed takes effect.
            let code = await home.shop.code {
                try await download.change { request throws(DownloadError) in
                    request.label = "late"
                    request.sources = [try DownloadURL("no URL")]
                }
            }
            #expect(code == .invalidRequest)
            do throws(DownloadError) {
                try await download.change {
                    $0.label = "late"
                    $0.destination = .file("/elsewhere")
                }
                Issue.record("it was changed")
            } catch { #expect(error.message == "destination of a listed download cannot be changed") }
            #expect(download.request.label == nil)
            try await download.resume()
            _ = try await download.finished()
            #expect(home.shop.asked.last == "/b")
            do throws(DownloadError) {
                try await download.change { $0.label = "late" }
                Issue.record("it was changed")
            } catch {
                #expect(error.code == .wrongState)
                #expect(error.message == "\(download.status.name) cannot be changed: it is complete")
                #expect(error.message(in: .simplifiedChinese) == "无法更改 \(download.status.name)：下载已完成")
            }
            await manager.shutdown()
        }
    }

    @Test("Backend: resume data resume the download once", arguments: BackendKind.allCases)
    func resumeData(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            let data = try await download.cancelByProducingResumeData()
            #expect(data.completedBytes >= 1_000_000)
            #expect(data.id == download.id)
            #expect(try await manager.downloadCount == 0)
            #expect(home.shop.files == ["a.part", "a.part.ferry"])
            let again = try await manager.download(resumingWith: data)
            #expect(again.id == data.id)
            #expect(await home.shop.code { _ = try await manager.download(resumingWith: data) } == .notResumable)
            home.shop.expect(try await again.finished().path, is: resource)
            let nothing = try await manager.download(
                home.request("/b") { $0.startsPaused = true })
            #expect(await home.shop.code { _ = try await nothing.cancelByProducingResumeData() } == .notResumable)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: an orphaned part file is reported, adopted by its path, and completed",
        arguments: BackendKind.allCases)
    func adopted(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"])
            try await home.shop.interrupt("/a", after: 1_000_000)
            let manager = home.manager()
            let report = try await manager.storage()
            #expect(report.orphanedParts == [home.shop.path("a.part")])
            #expect(report.orphanedBytes >= 1_000_000)
            let download = try await manager.adopt(home.shop.path("a.part"))
            #expect(download.request.sources.map(\.path) == ["/a"])
            home.shop.expect(try await download.finished().path, is: resource)
            #expect(try await manager.storage().finishedBytes == resource.size)
            #expect(await home.shop.code { _ = try await manager.adopt(home.shop.path("none.part")) } != nil)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: remove and clear take downloads off the list, and delete files on request",
        arguments: BackendKind.allCases)
    func removed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a", "/b", "/c"])
            let manager = home.manager()
            var all: [Download] = []
            for name in ["a", "b", "c"] {
                let download = try await manager.download(home.request("/" + name))
                _ = try await download.finished()
                all.append(download)
            }
            try await all[0].remove()
            #expect(home.shop.files == ["a", "b", "c"])
            try await all[1].remove(deletingFile: true)
            #expect(home.shop.files == ["a", "c"])
            #expect(try await manager.downloads() == [all[2]])
            #expect(await home.shop.code { try await all[0].remove() } == .notFound)
            #expect(await home.shop.code { try await all[0].restart() } == .notFound)
            let waiting = try await manager.download(home.request("/d") { $0.startsPaused = true })
            try await manager.clear(.completed, deletingFiles: true)
            #expect(home.shop.files == ["a"])
            #expect(try await manager.downloads() == [waiting])
            try await waiting.cancel()
            try await manager.clear(.all)
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: a refused download has the server's reason in both languages, and resume completes it",
        arguments: BackendKind.allCases)
    func failed(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"])
            home.server.always("/a", .status(451))
            let manager = home.manager { $0.maxRetries = 1 }
            let download = try await manager.download(home.request("/a"))
            do throws(DownloadError) {
                _ = try await download.finished()
                Issue.record("it did not fail")
            } catch {
                #expect(error.code == .refused)
                #expect(download.status.state == .failed(error))
                #expect(error.message.contains("451"))
                #expect(error.message(in: .simplifiedChinese).contains("451"))
                #expect(error.message(in: .simplifiedChinese) != error.message)
            }
            let history = try await manager.history(of: download.id)
            #expect(history.last?.kind.isEnd == true)
            home.server.always("/a", .honest)
            try await download.resume()
            home.shop.expect(try await download.finished().path, is: resource)
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: the reason of a resume is in events and history, in both languages", arguments: BackendKind.allCases)
    func reasons(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = home.manager()
            let events = manager.events
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            try await download.pause()
            try await download.resume()
            _ = try await download.finished()
            var told: [DownloadEvent] = []
            for await event in events {
                guard case .resumed = event.kind else { continue }
                told.append(event)
                break
            }
            for event in try await manager.history(of: download.id) {
                if case .resumed = event.kind { told.append(event) }
            }
            #expect(told.count == 2)
            for event in told {
                #expect(event.reason(in: .english) == #"ETag "s1-3000000" matched"#)
                #expect(event.reason(in: .simplifiedChinese) == #"标识 ETag "s1-3000000" 一致"#)
            }
            await manager.shutdown()
        }
    }

    @Test(
        "Backend: provided credentials complete a waiting download and appear in no history",
        arguments: BackendKind.allCases)
    func credentials(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"])
            home.server.always("/a", .basicAuth("nutzer", "zauberwort-4711"))
            let manager = home.manager { $0.waitsForUser = true }
            let download = try await manager.download(home.request("/a"))
            await home.reach(download) { $0 == .waiting(.credentials) }
            try await download.provide(credentials: Credentials(user: "nutzer", password: "zauberwort-4711"))
            home.shop.expect(try await download.finished().path, is: resource)
            let given = try await manager.download(
                home.request("/a") {
                    $0.credentials = Credentials(user: "nutzer", password: "zauberwort-4711")
                    $0.onDuplicate = .addAnother
                })
            _ = try await given.finished()
            let history = try await manager.history(of: given.id)
            #expect(!"\(history)".contains("zauberwort"))
            await manager.shutdown()
        }
    }
}
