import Dispatch
import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Handing over to the system", .timeLimit(.minutes(30)))
struct HandingOverTests {
    private static let resource = Resource(size: 3_000_000, seed: 11)

    /// Begins a download that the server holds after the first megabyte.
    private func begin(_ shop: Workshop, _ manager: DownloadManager) async throws -> Download {
        shop.server.serve("/a", Self.resource)
        shop.server.script("/a", [.stall(after: 1_000_000)])
        let download = try await manager.download(try shop.single("/a"))
        await shop.reach(1_000_000, download)
        return download
    }

    private func system(_ shop: Workshop) throws -> SystemService { try SystemService(shop, ["/a": Self.resource]) }

    @Test("Handover: what is missing is requested with its validator, and no header or description names a path")
    func request() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system) { $0.allowsMeteredNetwork = false }
            let download = try await begin(shop, manager)
            await manager.suspend()
            let request = try #require(system.service.requests.first)
            #expect(system.service.requests.count == 1)
            #expect(request.url.text == shop.server.url("/a"))
            #expect(request.fields[.range] == "bytes=1000000-2999999")
            #expect(request.fields[.ifRange] == Self.resource.etag)
            #expect(request.fields[.acceptEncoding] == "identity")
            // The server is on this machine, whose networks cost nothing.
            #expect(request.allowsMetered)
            #expect(request.ticket.hasSuffix(" \(download.id)"))
            #expect(!request.ticket.contains("/"))
            await manager.shutdown()
        }
    }

    @Test("Handover: bytes that land while the app is suspended are in the file, and the wake ends with its completion")
    func wake() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            let events = manager.events
            let download = try await begin(shop, manager)
            await manager.suspend()
            system.transferAll()
            await shop.wake(manager, system)
            #expect(download.status.state == .completed(.strong))
            shop.expect(shop.path("a"), is: Self.resource)
            #expect(shop.asked == ["/a"])
            #expect(await shop.code { _ = try await manager.downloads() } == .wrongState)
            await manager.shutdown()
            #expect(await shop.told(events).filter { if case .completed = $0.kind { true } else { false } }.count == 1)
        }
    }

    @Test("Handover: an app that was killed meanwhile is started by the system, and its next start has the event")
    func relaunch() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let first = shop.phone(system)
            let id = try await begin(shop, first).id
            await first.suspend()
            system.service.set(app: .absent)
            system.transferAll()
            let second = shop.phone(system)
            await shop.wake(second, system)
            shop.expect(shop.path("a"), is: Self.resource)
            system.service.set(app: .absent)
            let third = shop.phone(system)
            let events = third.events
            system.service.set(app: .foreground)
            try await third.activate()
            #expect(try await third.download(id: id)?.status.state == .completed(.strong))
            for await event in events {
                guard case .completed = event.kind else { continue }
                #expect(event.id == id)
                break
            }
            #expect(shop.asked == ["/a"])
            for manager in [first, second, third] { await manager.shutdown() }
        }
    }

    @Test("Handover: in the foreground a task that has received little is taken back, and the app goes on")
    func takenBack() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            let download = try await begin(shop, manager)
            await manager.suspend()
            system.service.set(app: .foreground)
            try await manager.activate()
            #expect(system.service.requests.isEmpty)
            await system.deliver { download.status.state.isFinal }
            try shop.expect(await download.finished().path, is: Self.resource)
            #expect(shop.server.traffic.requests(for: "/a").last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
        }
    }

    @Test("Handover: a force quit is neither an attempt nor a crash, and the next start goes on from the same byte")
    func forceQuit() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            for _ in 0..<4 {
                let manager = shop.phone(system) { $0.maxRetries = 1 }
                let download: Download
                if let listed = try await manager.downloads().first {
                    download = listed
                    shop.server.script("/a", [.stall(after: 0)])
                    try await manager.activate()
                    await system.deliver { download.status.state == .downloading }
                } else {
                    download = try await begin(shop, manager)
                }
                await manager.suspend()
                system.service.forceQuit()
                system.service.set(app: .foreground)
            }
            shop.server.always("/a", .honest)
            let last = shop.phone(system) { $0.maxRetries = 1 }
            try await last.activate()
            let download = try #require(try await last.downloads().first)
            await system.deliver { download.status.state.isFinal }
            try shop.expect(await download.finished().path, is: Self.resource)
            #expect(shop.server.traffic.requests(for: "/a").last?.range == "bytes=1000000-2999999")
            await last.shutdown()
        }
    }

    @Test("Handover: a file that changed on the server is not joined, and the download says so and starts over")
    func changed() async throws {
        try await Workshop.run { shop in
            let other = Resource(size: 3_000_000, seed: 12)
            let system = try SystemService(shop, ["/a": other])
            let manager = shop.phone(system)
            let events = manager.events
            let download = try await begin(shop, manager)
            shop.server.serve("/a", other)
            await manager.suspend()
            system.transferAll()
            system.service.set(app: .foreground)
            try await manager.activate()
            await system.deliver { download.status.state.isFinal }
            try shop.expect(await download.finished().path, is: other)
            await manager.shutdown()
            #expect(await notes(events).contains { $0.contains("changed while the app was suspended") })
        }
    }

    @Test("Handover: a download with secret headers whose redirects left their origin stays with the app, and says why")
    func secrets() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            let events = manager.events
            shop.server.serve("/a", Self.resource)
            shop.server.always("/b", .redirect(to: shop.server.url("/a")))
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let name = try #require(HTTPField.Name("X-Key"))
            let download = try await manager.download(try shop.single("/b") { $0.headers[name] = "secret" })
            await shop.reach(1_000_000, download)
            await manager.suspend()
            #expect(system.service.requests.isEmpty)
            try await manager.activate()
            await manager.suspend()
            await manager.shutdown()
            // Once, however often the app is suspended.
            #expect(await notes(events).filter { $0.contains("secret headers") }.count == 1)
        }
    }

    @Test("Handover: the target of a redirect to another origin is requested without the secret headers")
    func signedTarget() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            shop.server.serve("/a", Self.resource)
            let target = shop.server.url("/a").replacingOccurrences(of: "127.0.0.1", with: "localhost") + "?token=1"
            shop.server.always("/b", .redirect(to: target))
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let name = try #require(HTTPField.Name("X-Key"))
            let download = try await manager.download(try shop.single("/b") { $0.headers[name] = "secret" })
            await shop.reach(1_000_000, download)
            await manager.suspend()
            let request = try #require(system.service.requests.first)
            #expect(request.url.text == target)
            #expect(request.fields[name] == nil)
            system.transferAll()
            #expect(system.service.sent.map(\.url.text) == [target])
            await manager.shutdown()
        }
    }

    @Test("Handover: a download with a setting that the system ignores stays with the app unless that is permitted")
    func settings() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system) { $0.backgroundTransfer?.ignoredSettings = [] }
            let events = manager.events
            _ = try await begin(shop, manager)
            await manager.suspend()
            #expect(system.service.requests.isEmpty)
            await manager.shutdown()
            #expect(await notes(events).contains { $0.contains("its URL is not encrypted") })
        }
    }

    @Test("Handover: the settings that may be ignored are the obstacles that may be accepted")
    func settingNames() {
        let accepted = HandoverObstacle.allCases.filter(\.mayBeAccepted).map(\.rawValue)
        #expect(BackgroundTransfer.Setting.allCases.map(\.rawValue) == accepted)
    }

    @Test("Handover: no request of the system, and none that a redirect leads it to, has a secret of another origin")
    func redirects() async throws {
        try await Workshop.run { shop in
            let system = try SystemService(shop, ["/a": Self.resource, "/b": Self.resource])
            let manager = shop.phone(system)
            let name = try #require(HTTPField.Name("X-Key"))
            shop.server.serve("/a", Self.resource)
            // The source redirects within its origin, which may well lead on to another.
            shop.server.always("/b", .redirect(to: shop.server.url("/a")))
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let plain = try await manager.download(try shop.single("/b"))
            await shop.reach(1_000_000, plain)
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let secret = try await manager.download(
                try shop.single("/b") {
                    $0.headers[name] = "secret"
                    $0.onDuplicate = .addAnother
                })
            await shop.reach(1_000_000, secret)
            system.service.redirect("/a", to: try DownloadURL("http://elsewhere.test/b"))
            await manager.suspend()
            system.transferAll()
            let sent = system.service.sent
            #expect(sent.contains { $0.url.host == "elsewhere.test" })
            #expect(sent.allSatisfy { $0.fields[name] == nil })
            await manager.shutdown()
        }
    }

    @Test("Handover: a paused download is not handed over, and a pause ends its tasks")
    func paused() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            let download = try await begin(shop, manager)
            try await download.pause()
            await manager.suspend()
            #expect(system.service.requests.isEmpty)
            try await manager.activate()
            shop.server.script("/a", [.stall(after: 0)])
            try await download.resume()
            await shop.reach(download) { $0 == .downloading }
            await manager.suspend()
            #expect(system.service.requests.count == 1)
            // Opened by its first use after another start, which takes nothing back.
            system.service.set(app: .absent)
            let next = shop.phone(system)
            system.service.set(app: .foreground)
            let listed = try #require(try await next.downloads().first)
            try await listed.pause()
            await system.deliver { system.service.requests.isEmpty }
            await manager.shutdown()
            await next.shutdown()
        }
    }

    @Test(
        "Handover: downloads that have not begun are leased whole, and get name, part file and journal when they land")
    func waiting() async throws {
        try await Workshop.run { shop in
            let names = ["/a", "/b", "/c"]
            let system = try SystemService(shop, Dictionary(uniqueKeysWithValues: names.map { ($0, Self.resource) }))
            let manager = shop.phone(system) { $0.maxConcurrentDownloads = 1 }
            let first = try await begin(shop, manager)
            let second = try await manager.download(try shop.single("/b"))
            let third = try await manager.download(
                DownloadRequest(
                    sources: [try DownloadURL(shop.server.url("/c"))], destination: .file(shop.path("third"))))
            await manager.suspend()
            let ranges = system.service.requests.map { $0.fields[.range] }
            #expect(ranges == ["bytes=1000000-2999999", nil, nil])
            system.transferAll()
            await shop.wake(manager, system)
            for (download, name) in [(first, "a"), (second, "b"), (third, "third")] {
                #expect(download.status.state == .completed(.strong), "\(name)")
                shop.expect(shop.path(name), is: Self.resource)
            }
            #expect(shop.asked == ["/a"])
            #expect(Set(shop.names.filter { !$0.hasPrefix("s") }) == ["a", "b", "third"])
            await manager.shutdown()
        }
    }

    @Test("Handover: the name of a whole file that lands is kept, although the list is read again meanwhile")
    func placesReadAgain() async throws {
        try await Workshop.run { shop in
            let system = try SystemService(shop, ["/b": Self.resource])
            let (transport, clock) = (ScriptedTransport(Self.resource), ManualClock())
            let owner = Mutex<Scheduler?>(nil)
            // While the bytes are written, the list is read, which does not have the name yet.
            let fileSystem = FaultyFileSystem { operation, path in
                guard operation == .write, path.lastComponent?.string == "b.part",
                    let scheduler = owner.withLock({ $0.take() })
                else { return nil }
                let isRead = DispatchSemaphore(value: 0)
                // owner: this call, which awaits it.
                Task {
                    let leases = scheduler.handover.keeper?.leases ?? []
                    await scheduler.readPlaces(of: Set(leases.map(\.download)))
                    isRead.signal()
                }
                isRead.wait()
                return nil
            }
            let engine = EngineProvider(clock: clock) { _ in
                EngineEnvironment(transport: transport, fileSystem: fileSystem, clock: clock, processor: nil)
            }
            let manager = shop.phone(system, engine: engine)
            var request = DownloadRequest(
                sources: [try DownloadURL("http://model.test/b")], destination: .directory(shop.directory))
            request.notBefore = clock.date().addingTimeInterval(5000)
            let download = try await manager.download(request)
            await manager.suspend()
            system.transferAll()
            owner.withLock { $0 = manager.scheduler }
            system.service.set(app: .foreground)
            try await manager.activate()
            await system.deliver { download.status.progress.completedBytes == Self.resource.size }
            clock.advance(by: .seconds(6000))
            #expect(try await download.finished().path == shop.path("b"))
            #expect(transport.requests == 0)
            await manager.shutdown()
        }
    }

    @Test("Handover: a whole file without a strong validator is not used, unless the download or the manager says so")
    func unprovenWhole() async throws {
        try await Workshop.run { shop in
            let weak = Resource(size: 100_000, seed: 3, etag: "W/\"1\"")
            let system = try SystemService(shop, ["/a": Self.resource, "/b": weak, "/c": weak])
            let manager = shop.phone(system) { $0.maxConcurrentDownloads = 1 }
            let events = manager.events
            let first = try await begin(shop, manager)
            shop.server.serve("/b", weak)
            shop.server.always("/b", .stall(after: 0))
            let strict = try await manager.download(try shop.single("/b"))
            let lenient = try await manager.download(try shop.single("/c") { $0.trust.resumesUnproven = true })
            await manager.suspend()
            #expect(system.service.requests.count == 3)
            // The strict one asks its server during the wake, and must not keep the others from their slots.
            await manager.configure { $0.maxConcurrentDownloads = 3 }
            system.transferAll()
            await shop.wake(manager, system)
            #expect(first.status.state == .completed(.strong))
            #expect(lenient.status.state == .completed(.weak))
            #expect(!strict.status.state.isFinal && !shop.names.contains("b"))
            // The server is known to send no strong validator: the file is not fetched once more.
            #expect(system.service.requests.isEmpty)
            await manager.shutdown()
            #expect(await notes(events).contains { $0.contains("could not be used") })
        }
    }

    @Test("Handover: a wake suspends no manager whose app is in the foreground already")
    func foreground() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            _ = try await begin(shop, manager)
            await manager.suspend()
            system.transferAll()
            system.service.set(app: .foreground)
            try await manager.activate()
            await shop.wake(manager, system)
            #expect(await shop.code { _ = try await manager.downloads() } == nil)
            await manager.shutdown()
        }
    }

    @Test(
        "Handover: the app's delegate hands events over to its manager, whose handler is called once, on the main thread"
    )
    func delegate() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system, identifier: "delegate")
            let download = try await begin(shop, manager)
            await manager.suspend()
            system.transferAll()
            system.service.wake()
            let calls = CallCount()
            let isKnown = await MainActor.run {
                let isAnothers = DownloadManager.handleBackgroundEvents("another") { calls.add() }
                #expect(!isAnothers)
                return DownloadManager.handleBackgroundEvents("delegate") {
                    MainActor.assertIsolated()
                    calls.add()
                }
            }
            #expect(isKnown)
            await system.deliver { calls.value > 0 }
            #expect(download.status.state == .completed(.strong))
            await manager.shutdown()
            #expect(calls.value == 1)
        }
    }

    @Test("Handover: no more is leased than the disk has room for, and the download says so")
    func noSpace() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let manager = shop.phone(system)
            let events = manager.events
            _ = try await begin(shop, manager)
            await manager.configure { $0.minFreeBytes = 1 << 60 }
            await manager.suspend()
            #expect(system.service.requests.isEmpty)
            await manager.shutdown()
            #expect(await notes(events).contains { $0.contains("no room") })
        }
    }

    @Test("Handover: a task that was lost holds no download once all events were delivered, also without an activation")
    func lost() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let first = shop.phone(system)
            _ = try await begin(shop, first)
            await first.suspend()
            var script = ScriptedSystem.Script()
            script.loses = 1
            system.service.set(script)
            system.transferAll()
            system.service.set(app: .absent)
            let second = shop.phone(system)
            system.service.set(app: .foreground)
            let download = try #require(try await second.downloads().first)
            await system.deliver { download.status.state.isFinal }
            try shop.expect(await download.finished().path, is: Self.resource)
            await first.shutdown()
            await second.shutdown()
        }
    }

    @Test("Handover: stricter rules for networks end the tasks that were begun under the old ones")
    func stricter() async throws {
        try await Workshop.run { shop in
            let system = try system(shop)
            let first = shop.phone(system)
            _ = try await begin(shop, first)
            await first.suspend()
            system.service.set(app: .absent)
            let second = shop.phone(system)
            system.service.set(app: .foreground)
            _ = try await second.downloads()
            await second.configure { $0.allowsMeteredNetwork = false }
            await system.deliver { system.service.requests.isEmpty }
            await first.shutdown()
            await second.shutdown()
        }
    }

    @Test("Handover: an action on all downloads ends the tasks of those without an object too")
    func all() async throws {
        for action in [ListAction.pause(), .cancel, .remove(deletingFiles: false)] {
            try await Workshop.run { shop in
                let system = try system(shop)
                let first = shop.phone(system)
                let id = try await begin(shop, first).id
                await first.suspend()
                #expect(system.service.requests.count == 1)
                system.service.set(app: .absent)
                let second = shop.phone(system)
                system.service.set(app: .foreground)
                let scheduler = try #require(second.scheduler)
                _ = try await second.downloadCount
                while !scheduler.waitsForLeases(id) || scheduler.known(id) != nil { await Task.yield() }
                #expect(try await scheduler.perform(action, on: nil, session: nil).changed == [id])
                await system.deliver { system.service.requests.isEmpty }
                await first.shutdown()
                await second.shutdown()
            }
        }
    }

    private func notes(_ events: AsyncStream<DownloadEvent>) async -> [String] {
        var notes: [String] = []
        for await event in events { if case .note(let note) = event.kind { notes.append(note) } }
        return notes
    }
}

extension Scheduler {
    fileprivate func waitsForLeases(_ id: DownloadID) -> Bool {
        if case .waiting? = queue.rest(of: id) { true } else { false }
    }
}
