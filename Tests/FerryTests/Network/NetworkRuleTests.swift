import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Network rules of the queue", .timeLimit(.minutes(30)))
struct NetworkRuleTests {
    @Test(
        "Network: offline, downloads wait with their bytes and no counted attempt; online, they resume in order (B13)"
    )
    func offline() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"], [.stall(after: 1_000_000)])
            shop.serve(["/c"])
            let network = ManualNetworkMonitor()
            let manager = shop.kept(engine: .far(), monitor: network) {
                $0.maxConcurrentDownloads = 2
                $0.maxRetries = 1
            }
            let all = try await manager.download(["/a", "/b", "/c"].map { try shop.far($0) })
            for download in all[0...1] { await shop.reach(1_000_000, download) }
            network.set(online: false)
            for download in all { await shop.reach(download) { $0 == .waiting(.network) } }
            #expect(all.map(\.status.state) == [.waiting(.network), .waiting(.network), .waiting(.network)])
            #expect(all.map(\.status.progress.completedBytes) == [1_000_000, 1_000_000, 0])
            #expect(manager.network.kind == .offline)
            let asked = shop.asked.count
            network.set(online: true)
            try await shop.expectAll(all, are: resource)
            // The third one starts when one of the others has ended; the other may reach the server after it.
            let ranges = shop.server.requests[asked...].map(\.range)
            #expect(ranges.first == "bytes=1000000-2999999")
            #expect(ranges.count { $0 == "bytes=1000000-2999999" } == 2)
            for download in all {
                let history = try await manager.history(of: download.id)
                let retries = history.filter { if case .retrying = $0.kind { true } else { false } }
                #expect(retries.isEmpty)
            }
            await manager.shutdown()
        }
    }

    @Test("Network: without a way out, a download runs if its proxy is near", arguments: [false, true])
    func proxy(isOwn: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let network = ManualNetworkMonitor()
            network.set(online: false)
            let near = "http://127.0.0.1:3128"
            let choice = try ProxyChoice(parsing: near)
            // The transport of this engine connects directly.
            let settings = try ProxySettings(explicit: isOwn ? "none" : near, noProxy: "127.0.0.1")
            func manager() -> DownloadManager {
                shop.kept(engine: .far(), monitor: network) { $0.transfer.proxy = settings }
            }
            let first = manager()
            let paused = try await first.download(
                try shop.far("/a") {
                    $0.startsPaused = true
                    if isOwn { $0.connection.proxy = choice }
                })
            await first.shutdown()
            let second = manager()
            let again = try #require(try await second.downloads().first { $0.id == paused.id })
            try await again.resume()
            try await shop.expectAll([again], are: resource)
            await second.shutdown()
        }
    }

    /// The keys of the sentences that told why a download waited for a network.
    private func waits(of download: Download, in manager: DownloadManager) async throws -> [ErrorPhrase.Key] {
        try await manager.history(of: download.id).compactMap { event in
            guard case .waiting(.network, let message) = event.kind else { return nil }
            return ErrorPhrase.Key.allCases.first { ErrorPhrase($0).text(in: .english) == message }
        }
    }

    @Test("Network: a metered one stops downloads that may not use it, and a new rule resumes them at once")
    func metered() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b", "/c"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor()
            let manager = shop.kept(engine: .far(), monitor: network) { $0.allowsMeteredNetwork = false }
            let all = try await manager.download([
                try shop.far("/a"), try shop.far("/b"),
                try shop.far("/c") { $0.network = NetworkRule(allowsMetered: true) },
            ])
            for download in all { await shop.reach(1_000_000, download) }
            network.set(metered: true)
            for download in all[0...1] { await shop.reach(download) { $0 == .waiting(.network) } }
            #expect(all[2].status.state == .downloading)
            // The rule of one download.
            try await all[0].change { $0.network.allowsMetered = true }
            try await shop.expectAll([all[0]], are: resource)
            #expect(all[1].status.state == .waiting(.network))
            // The rule of the manager.
            await manager.configure { $0.allowsMeteredNetwork = true }
            try await shop.expectAll([all[1]], are: resource)
            #expect(try await waits(of: all[1], in: manager) == [.meteredNotAllowed])
            #expect(manager.network.kind == .metered)
            try await all[2].cancel()
            await manager.shutdown()
        }
    }

    @Test("Network: a download that waits for it leaves its slot to the next that may use it")
    func slots() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let network = ManualNetworkMonitor(NetworkStatus(isOnline: true, isMetered: true))
            let manager = shop.kept(engine: .far(), monitor: network) {
                $0.maxConcurrentDownloads = 1
                $0.allowsMeteredNetwork = false
            }
            let first = try await manager.download(try shop.far("/a"))
            let second = try await manager.download(try shop.far("/b") { $0.network.allowsMetered = true })
            try await shop.expectAll([second], are: resource)
            #expect(first.status.state == .waiting(.network))
            #expect(shop.asked == ["/b"])
            network.set(metered: false)
            try await shop.expectAll([first], are: resource)
            #expect(try await waits(of: first, in: manager) == [.meteredNotAllowed])
            await manager.shutdown()
        }
    }

    @Test("Network: a download that forbids constrained networks waits until its rule changes")
    func constrained() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let network = ManualNetworkMonitor(NetworkStatus(isOnline: true, isConstrained: true))
            let manager = shop.kept(engine: .far(), monitor: network)
            let download = try await manager.download(
                try shop.far("/a") { $0.network = NetworkRule(allowsConstrained: false) })
            await shop.reach(download) { $0 == .waiting(.network) }
            #expect(shop.asked.isEmpty)
            try await download.change { $0.network.allowsConstrained = nil }
            try await shop.expectAll([download], are: resource)
            #expect(try await waits(of: download, in: manager) == [.constrainedNotAllowed])
            await manager.shutdown()
        }
    }

    @Test("Network: loopback and local names are downloaded while offline")
    func local() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let network = ManualNetworkMonitor(.offline)
            network.setLocalNames(["files.example"])
            let manager = shop.kept(engine: .far(), monitor: network)
            let all = try await manager.download([try shop.single("/a"), try shop.far("/b")])
            try await shop.expectAll(all, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Network: a new path opens the connections again without a counted attempt")
    func moved() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor()
            let manager = shop.kept(engine: .far(), monitor: network) { $0.maxRetries = 1 }
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            network.movePath()
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
        }
    }

    @Test("Network: the user's setting whether it is metered stops and resumes downloads")
    func said() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept(engine: .far()) { $0.allowsMeteredNetwork = false }
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            await manager.configure { $0.networkIsMetered = true }
            await shop.reach(download) { $0 == .waiting(.network) }
            await manager.configure { $0.networkIsMetered = false }
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Network: networkChanges gives each status and ends with the manager")
    func followed() async throws {
        let network = ManualNetworkMonitor()
        try await Workshop.run { shop in
            let manager = shop.kept(monitor: network)
            try await manager.activate()
            #expect(network.isStarted)
            var seen: [NetworkStatus.Kind] = []
            for await status in manager.networkChanges {
                if seen.last != status.kind { seen.append(status.kind) }
                switch status.kind {
                case .online where seen.count == 1: network.set(online: false)
                case .offline: network.set(online: true, metered: true)
                case .metered: await manager.shutdown()
                default: break
                }
            }
            #expect(seen == [.online, .offline, .metered])
            #expect(!network.isStarted)
        }
    }

    @Test("Network: a download that waits for it is found waiting after a relaunch, and resumes when it is back")
    func relaunched() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor()
            let manager = shop.kept(engine: .far(), monitor: network)
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            network.set(online: false)
            await shop.reach(download) { $0 == .waiting(.network) }
            await manager.shutdown()

            let later = ManualNetworkMonitor(.offline)
            let again = shop.kept(engine: .far(), monitor: later)
            let found = try #require(try await again.download(id: download.id))
            #expect(found.status.state == .waiting(.network))
            #expect(found.status.progress.completedBytes == 1_000_000)
            later.set(online: true)
            try await shop.expectAll([found], are: resource)
            await again.shutdown()
        }
    }
}
