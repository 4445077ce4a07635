import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Resume data", .timeLimit(.minutes(30)))
struct ResumeDataTests {
    /// The resume data of a download that was cancelled at a million bytes.
    private func taken(
        _ shop: Workshop, _ manager: DownloadManager, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> ResumeData {
        shop.server.script("/a", [.stall(after: 1_000_000)])
        let download = try await manager.download(try shop.single("/a", change))
        await shop.reach(1_000_000, download)
        let data = try await download.cancelByProducingResumeData()
        #expect(try await manager.downloadCount == 0)
        #expect(shop.files == ["a.part", "a.part.ferry"])
        #expect(download.status.state == .cancelled)
        return data
    }

    @Test("Resume data: a cancelled download resumes at its offset in the next manager", arguments: [true, false])
    func continues(isKept: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = isKept ? shop.kept() : shop.manager()
            let data = try await taken(shop, manager)
            #expect(data.completedBytes == 1_000_000)
            #expect(data.totalBytes == resource.size)
            #expect(data.etag == resource.etag)
            #expect(data.sources.map(\.text) == [shop.server.url("/a")])
            await manager.shutdown()

            let next = isKept ? shop.kept() : shop.manager()
            let events = next.events
            let download = try await next.download(resumingWith: try ResumeData(data.data))
            #expect(download.status.bytes == 1_000_000)
            try await shop.expectAll([download], are: resource)
            #expect(download.id == data.id)
            #expect(shop.server.requests.map(\.range) == [nil, "bytes=1000000-2999999"])
            #expect(shop.files == ["a"])
            await next.shutdown()
            let kinds = await shop.told(events).map(\.kind)
            #expect(kinds.contains { if case .resumed(1_000_000, _, _) = $0 { true } else { false } })
        }
    }

    @Test("Resume data: a part file is found again in an app's container that was moved, and nowhere else")
    func movedContainer() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            func manager(_ container: String) -> DownloadManager {
                var configuration = DownloadManager.Configuration.default(
                    identifier: "app", directory: shop.path(container + "/docs"),
                    stateDirectory: shop.path(container + "/state"))
                configuration.minFreeBytes = 0
                configuration.waitForBusyMachine()
                return DownloadManager(configuration, engine: EngineProvider(), monitor: ManualNetworkMonitor())
            }
            let first = manager("one")
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let old = try await first.download(
                try shop.single("/a") { $0.destination = .directory(shop.path("one/docs/films")) })
            await shop.reach(1_000_000, old)
            let data = try await old.cancelByProducingResumeData()
            await first.shutdown()
            try FileManager.default.moveItem(atPath: shop.path("one"), toPath: shop.path("two"))
            let other = manager("three")
            #expect(await shop.code { _ = try await other.download(resumingWith: data) } == .notResumable)
            await other.shutdown()
            let second = manager("two")
            let download = try await second.download(resumingWith: try ResumeData(data.data))
            try await shop.expectAll([download], are: resource)
            #expect(download.status.path == shop.path("two/docs/films/a"))
            #expect(shop.server.requests.map(\.range) == [nil, "bytes=1000000-2999999"])
            await second.shutdown()
        }
    }

    @Test("Resume data: a second use is refused while the download is listed, and starts again after its removal")
    func twice() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager)
            let first = try await manager.download(resumingWith: data)
            #expect(await shop.code { _ = try await manager.download(resumingWith: data) } == .notResumable)
            try await shop.expectAll([first], are: resource)
            #expect(await shop.code { _ = try await manager.download(resumingWith: data) } == .notResumable)
            #expect(try await manager.downloads() == [first])
            try await first.remove()
            let events = manager.events
            let again = try await manager.download(resumingWith: data)
            try await shop.expectAll([again], are: resource)
            let history = try await manager.history(of: again.id).map(\.kind)
            #expect(history.contains { if case .restarted = $0 { true } else { false } })
            #expect(Set(shop.files).isSubset(of: ["a", "a (1)"]))
            await manager.shutdown()
            #expect(await shop.told(events).contains { if case .restarted = $0.kind { true } else { false } })
        }
    }

    @Test("Resume data: four uses at the same time list one download")
    func twiceAtOnce() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager)
            let codes = await withTaskGroup(of: DownloadError.Code?.self) { group in
                for _ in 0..<4 {
                    group.addTask { await shop.code { _ = try await manager.download(resumingWith: data) } }
                }
                var codes: [DownloadError.Code?] = []
                for await code in group { codes.append(code) }
                return codes
            }
            #expect(codes.count { $0 == nil } == 1)
            #expect(codes.count { $0 == .notResumable } == 3)
            try await shop.expectAll(try await manager.downloads(), are: resource)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Resume data: damaged and foreign data are refused")
    func damaged() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager).data
            let text = String(decoding: data, as: UTF8.self)
            for bad in [
                text.replacing("1000000", with: "2000000"), String(text.dropLast(5)), "", "{}",
                "<?xml version=\"1.0\"?><plist/>",
            ] {
                #expect(throws: DownloadError.self) { try ResumeData(Data(bad.utf8)) }
            }
            await manager.shutdown()
        }
    }

    @Test("Resume data: without its part file the download starts again, and its history has the restart")
    func partGone() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager)
            try FileManager.default.removeItem(atPath: shop.path("a.part"))
            try FileManager.default.removeItem(atPath: shop.path("a.part.ferry"))
            let download = try await manager.download(resumingWith: data)
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range == nil)
            let history = try await manager.history(of: download.id).map(\.kind)
            #expect(history.contains { if case .restarted = $0 { true } else { false } })
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Resume data: a part file of another download under the same name stays that download's")
    func anothers() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager)
            try FileManager.default.removeItem(atPath: shop.path("a.part"))
            try FileManager.default.removeItem(atPath: shop.path("a.part.ferry"))
            let other = Resource(size: 3_000_000, seed: 7)
            shop.server.serve("/b/a", other)
            shop.server.script("/b/a", [.stall(after: 2_000_000)])
            let owner = try await manager.download(try shop.single("/b/a"))
            await shop.reach(2_000_000, owner)
            try await owner.pause()
            #expect(owner.status.path == shop.path("a"))
            let again = try await manager.download(resumingWith: data)
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.requests.last?.range == nil)
            #expect(owner.status.state == .paused)
            try await owner.resume()
            try await shop.expectAll([owner], are: other)
            #expect(shop.server.requests.last?.range == "bytes=2000000-2999999")
            #expect(shop.files == ["a", "a (1)"])
            await manager.shutdown()
        }
    }

    @Test("Resume data: when the server has another file, the download starts again with that file")
    func changed() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager)
            let new = Resource(size: 3_000_000, seed: 9)
            shop.server.serve("/a", new)
            let download = try await manager.download(resumingWith: data)
            try await shop.expectAll([download], are: new)
            let history = try await manager.history(of: download.id).map(\.kind)
            #expect(history.contains { if case .restarted = $0 { true } else { false } })
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Resume data: a download without bytes is cancelled with the error notResumable")
    func nothing() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.serve(["/a"], [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download(["/a", "/b"].map { try shop.single($0) })
            await gate.arrived()
            for download in downloads.reversed() {
                #expect(await shop.code { _ = try await download.cancelByProducingResumeData() } == .notResumable)
                #expect(download.status.state == .cancelled)
            }
            #expect(shop.files == [])
            #expect(shop.asked == ["/a"])
            gate.open()
            await manager.shutdown()
        }
    }

    @Test("Resume data: a list rebuilt from journals has the download only after the data were used")
    func listLost() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let first = shop.kept()
            let data = try await taken(shop, first)
            await first.shutdown()
            try FileManager.default.removeItem(atPath: shop.path("state"))
            let second = shop.kept()
            #expect(try await second.downloads().isEmpty)
            shop.server.script("/a", [.stall(after: 500_000)])
            let download = try await second.download(resumingWith: data)
            await shop.reach(1_500_000, download)
            await second.shutdown()
            try FileManager.default.removeItem(atPath: shop.path("state"))
            let third = shop.kept()
            let found = try await third.downloads()
            #expect(found.map(\.id) == [data.id])
            try await shop.expectAll(found, are: resource)
            #expect(shop.server.requests.map(\.range) == [nil, "bytes=1000000-2999999", "bytes=1500000-2999999"])
            await third.shutdown()
        }
    }

    @Test("Resume data: when the catalogue refuses the removal, the download stays in the queue")
    func refused() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/x"])
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let gate = Gate()
            shop.server.script("/x", [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            try await download.pause()
            let running = try await manager.download(try shop.single("/x"))
            await gate.arrived()
            try await download.resume()
            try await shop.refuse("BEFORE DELETE ON download", in: manager)
            #expect(await shop.code { _ = try await download.cancelByProducingResumeData() } == .catalogue)
            #expect(download.status.state == .waiting(.slot))
            gate.open()
            try await shop.expectAll([running, download], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
        }
    }

    @Test("Resume data: when the catalogue refuses the removal, a running download continues and no pause is reported")
    func refusedWhileRunning() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let events = manager.events
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            try await shop.refuse("BEFORE DELETE ON download", in: manager)
            #expect(await shop.code { _ = try await download.cancelByProducingResumeData() } == .catalogue)
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
            let kinds = await shop.told(events).map(\.kind)
            #expect(!kinds.contains(.paused) && !kinds.contains(.cancelled))
        }
    }

    @Test(
        "Resume data: events, updates and the delegate report one cancellation and no pause of its own",
        arguments: [true, false])
    func reported(isKept: Bool) async throws {
        try await Workshop.run { shop in
            shop.serve(["/run", "/pause"], [.stall(after: 1_000_000)])
            let manager = isKept ? shop.kept() : shop.manager()
            let (events, recorder) = (manager.events, Recorder())
            manager.setDelegate(recorder)
            func begun(_ path: String) async throws -> Download {
                let download = try await manager.download(try shop.single(path))
                await shop.reach(1_000_000, download)
                return download
            }
            let paused = try await begun("/pause")
            try await paused.pause()
            let running = try await begun("/run")
            let updates = running.updates
            for download in [running, paused] {
                _ = try await download.cancelByProducingResumeData()
                #expect(download.status.state == .cancelled)
                await recorder.reach { $0.contains { $0.id == download.id && $0.call == .cancelled } }
            }
            var states: [DownloadState] = []
            for await status in updates { states.append(status.state) }
            #expect(states.last == .cancelled && !states.contains(.paused), "\(states)")
            await manager.shutdown()
            let told = await shop.told(events)
            for (download, pauses) in [(running, 0), (paused, 1)] {
                let own = told.filter { $0.id == download.id }
                #expect(own.count { $0.kind == .cancelled } == 1)
                #expect(own.count { $0.kind == .paused } == pauses)
                #expect(own.allSatisfy { $0.kind != .cancelled || ($0.number != nil) == isKept })
                #expect(recorder.calls(of: download.id).count { $0 == .cancelled } == 1)
                #expect(recorder.calls(of: download.id).count { $0 == .paused } == pauses)
            }
        }
    }

    /// Rules that travel with a journal; the file has three million bytes.
    private static func setRules(_ request: inout DownloadRequest) {
        (request.onConflict, request.maxBytes, request.expectedBytes) = (.fail, 4_000_000, 3_000_000)
        (request.maxRedirects, request.maxRetries, request.minFreeBytes) = (3, 7, 5)
        (request.stallTimeout, request.minSpeed) = (.milliseconds(9_000_500), 1)
        (request.usesServerTime, request.recordsDigests) = (false, true)
        (request.connection.userAgent, request.connection.connectTimeout) = ("mine/1", .seconds(77))
        request.connection.addressFamily = .v4
    }

    @Test(
        "Resume data: the rules of the request apply again, those that were changed during a pause too",
        arguments: [true, false])
    func rules(isKept: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let first = isKept ? shop.kept() : shop.manager()
            let download = try await first.download(
                try shop.single("/a") {
                    Self.setRules(&$0)
                    $0.connection.insecure = true
                    $0.trust.allowsDowngrade = true
                })
            await shop.reach(1_000_000, download)
            try await download.pause()
            try await download.change {
                $0.maxBytes = 5_000_000
                $0.label = "changed"
            }
            let rules = try #require(JournalRules(of: download.request))
            let data = try await download.cancelByProducingResumeData()
            await first.shutdown()
            let second = isKept ? shop.kept() : shop.manager()
            let again = try await second.download(resumingWith: data)
            #expect(JournalRules(of: again.request) == rules)
            #expect(again.request.maxBytes == 5_000_000 && again.request.label == "changed")
            #expect(again.request.maxConnections == 1)
            #expect(!again.request.connection.insecure && again.request.trust == TrustRules())
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.requests.last?.head["User-Agent"] == "mine/1")
            await second.shutdown()
        }
    }

    @Test(
        "Resume data: a restarted download replaces the file of its first run, unless that was changed",
        arguments: [false, true])
    func restarted(isChanged: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([download], are: resource)
            shop.server.script("/a", [.stall(after: 1_000_000)])
            try await download.restart()
            await shop.reach(1_000_000, download)
            let data = try await download.cancelByProducingResumeData()
            if isChanged { try shop.write("mine", to: "a") }
            let again = try await manager.download(resumingWith: data)
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            #expect(shop.files == (isChanged ? ["a", "a (1)"] : ["a"]))
            #expect((shop.text("a") == "mine") == isChanged)
            await manager.shutdown()
        }
    }

    @Test(
        "Resume data: under overwrite the file that was there is replaced, and another one is not",
        arguments: [false, true])
    func overwriting(isChanged: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            try shop.write("old", to: "a")
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a") { $0.onConflict = .overwrite })
            await shop.reach(1_000_000, download)
            let data = try await download.cancelByProducingResumeData()
            #expect(shop.text("a") == "old")
            if isChanged { try shop.write("mine", to: "a") }
            let again = try await manager.download(resumingWith: data)
            #expect(again.request.onConflict == (isChanged ? .rename : .overwrite))
            try await shop.expectAll([again], are: resource)
            #expect(shop.files == (isChanged ? ["a", "a (1)"] : ["a"]))
            #expect((shop.text("a") == "mine") == isChanged)
            await manager.shutdown()
        }
    }

    @Test("Journals: a rebuilt list has the rules of its downloads, and the file that a restart replaces")
    func rebuilt() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let first = shop.kept()
            let download = try await first.download(
                try shop.single("/a") {
                    Self.setRules(&$0)
                    $0.onConflict = .rename
                })
            try await shop.expectAll([download], are: resource)
            shop.server.script("/a", [.stall(after: 1_000_000)])
            try await download.restart()
            await shop.reach(1_000_000, download)
            let rules = JournalRules(of: download.request)
            await first.shutdown()
            try FileManager.default.removeItem(atPath: shop.path("state"))
            let second = shop.kept()
            let found = try await second.downloads()
            #expect(found.map { JournalRules(of: $0.request) } == [rules])
            try await shop.expectAll(found, are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            #expect(shop.files.filter { !$0.hasPrefix(".") } == ["a"])
            await second.shutdown()
        }
    }

    @Test("Resume data: a small file held in memory resumes at its offset")
    func small() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 400_000, [.stall(after: 100_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(100_000, download)
            let data = try await download.cancelByProducingResumeData()
            #expect(data.completedBytes == 100_000)
            let again = try await manager.download(resumingWith: data)
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=100000-399999")
            await manager.shutdown()
        }
    }

    @Test("Resume data: they hold no credentials and no secret headers")
    func secrets() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let data = try await taken(shop, manager) {
                $0.credentials = Credentials(user: "ann", password: "hush1")
                $0.sources = $0.sources.map { $0.with(Credentials(user: "ann", password: "hush2")) }
                if let name = HTTPField.Name("X-Key") { $0.headers[name] = "hush3" }
            }
            let text = String(decoding: data.data, as: UTF8.self)
            #expect(!text.contains("hush"))
            #expect(!text.contains("ann"))
            let secrets = (try? FileManager.default.contentsOfDirectory(atPath: shop.path("state/test/secrets"))) ?? []
            #expect(secrets.isEmpty)
            await manager.shutdown()
        }
    }
}
