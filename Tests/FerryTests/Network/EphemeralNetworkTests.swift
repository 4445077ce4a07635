import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// An ephemeral manager keeps no list and watches the network only when a rule needs it; see also ``NetworkRuleTests``.
@Suite("Network rules of an ephemeral manager", .timeLimit(.minutes(30)))
struct EphemeralNetworkTests {
    private static let metered = NetworkStatus(isOnline: true, isMetered: true)

    private func manager(
        _ network: ManualNetworkMonitor, _ change: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) -> DownloadManager {
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.minFreeBytes = 0
        configuration.waitForBusyMachine()
        change(&configuration)
        return DownloadManager(configuration, engine: .far(), monitor: network)
    }

    @Test("Ephemeral manager: its network rule applies to the first download, before a request is sent")
    func managersRule() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let network = ManualNetworkMonitor(Self.metered)
            let manager = manager(network) { $0.allowsMeteredNetwork = false }
            let download = try await manager.download(try shop.far("/a"))
            #expect(download.status.state == .waiting(.network))
            #expect(manager.network.kind == .metered)
            network.set(metered: false)
            try await shop.expectAll([download], are: resource)
            #expect(shop.asked == ["/a"])
            await manager.shutdown()
            #expect(!network.isStarted)
        }
    }

    @Test("Ephemeral manager: a download's own network rule makes that one wait and no other")
    func ownRule() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let network = ManualNetworkMonitor(Self.metered)
            let manager = manager(network)
            let all = try await manager.download([
                try shop.far("/a") { $0.network = NetworkRule(allowsMetered: false) }, try shop.far("/b"),
            ])
            try await shop.expectAll([all[1]], are: resource)
            #expect(all[0].status.state == .waiting(.network))
            try await all[0].change { $0.network.allowsMetered = nil }
            try await shop.expectAll([all[0]], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Ephemeral manager: a network rule that is set later stops a running download", arguments: [true, false])
    func laterRule(isOfAll: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor(Self.metered)
            let manager = manager(network)
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            #expect(!network.isStarted)
            if isOfAll {
                await manager.configure { $0.allowsMeteredNetwork = false }
            } else {
                try await download.change { $0.network.allowsMetered = false }
            }
            #expect(network.isStarted)
            await shop.reach(download) { $0 == .waiting(.network) }
            network.set(metered: false)
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Ephemeral manager: networkChanges starts with the network's real status and ends the watch at shutdown")
    func followed() async throws {
        let network = ManualNetworkMonitor(Self.metered)
        let manager = manager(network)
        #expect(!network.isStarted)
        var changes = manager.networkChanges.makeAsyncIterator()
        #expect(await changes.next()?.kind == .metered)
        #expect(network.isStarted)
        network.set(online: false)
        var last: NetworkStatus.Kind?
        while last != .offline, let status = await changes.next() { last = status.kind }
        #expect(last == .offline)
        #expect(manager.network.kind == .offline)
        await manager.shutdown()
        #expect(!network.isStarted)
    }

    @Test("Ephemeral manager: without a rule that forbids anything the network is not watched")
    func unneeded() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let network = ManualNetworkMonitor(Self.metered)
            let manager = manager(network)
            await manager.configure { $0.maxConcurrentDownloads = 1 }
            let download = try await manager.download(
                try shop.far("/a") { $0.network = NetworkRule(allowsMetered: true) })
            try await shop.expectAll([download], are: resource)
            #expect(!network.isStarted)
            await manager.shutdown()
        }
    }

    @Test("Ephemeral manager: a stream waits for an allowed network, and is not stopped once it has begun")
    func stream() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(after: 1_000_000, gate)])
            shop.serve(["/b"], [.stall(after: 1_000_000)])
            let output = shop.path("output")
            _ = FileManager.default.createFile(atPath: output, contents: nil)
            let handle = try FileHandle(forWritingTo: URL(filePath: output))
            defer { try? handle.close() }
            let descriptor = handle.fileDescriptor
            let network = ManualNetworkMonitor(Self.metered)
            let manager = manager(network) { $0.allowsMeteredNetwork = false }
            let stream = try await manager.download(try shop.far("/a") { $0.destination = .stream(descriptor) })
            #expect(stream.status.state == .waiting(.network))
            network.set(metered: false)
            await shop.reach(1_000_000, stream)
            // The state of another download shows that the change was handled.
            let other = try await manager.download(try shop.far("/b"))
            await shop.reach(1_000_000, other)
            network.set(metered: true)
            await shop.reach(other) { $0 == .waiting(.network) }
            gate.open()
            _ = try await stream.finished()
            shop.expect(output, is: resource)
            #expect(shop.asked.filter { $0 == "/a" }.count == 1)
            await manager.shutdown()
        }
    }
}
