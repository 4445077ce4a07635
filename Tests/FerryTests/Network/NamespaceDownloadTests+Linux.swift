#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    @testable import Ferry
    @testable import FerryEngine

    /// Downloads under network rules, with the real kernel's messages about network namespaces of the test. The bytes
    /// come from this machine.
    @Suite(
        "Downloads in network namespaces",
        .enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"),
        .timeLimit(.minutes(30)))
    struct NamespaceDownloadTests {
        /// Behind the router of eth0.
        private static let host = "198.51.100.1"

        /// Runs a body with a download that has 1 MB and stalls until it has a new connection.
        private func begun(
            _ change: @escaping @Sendable (inout DownloadManager.Configuration) -> Void = { _ in },
            _ body:
                @escaping @Sendable (NetworkNamespace, Workshop, DownloadManager, SystemNetworkMonitor, Download)
                async throws -> Void
        ) async throws {
            try await NetworkNamespace.with { network in
                try network.near("route add default via 192.0.2.1 dev eth0 metric 100")
                try await Workshop.run { shop in
                    let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
                    let monitor = SystemNetworkMonitor(NetworkSettings(), tools: .none) { network.sockets() }
                    let manager = shop.kept(engine: .far(Self.host), monitor: monitor) {
                        $0.maxRetries = 1
                        change(&$0)
                    }
                    let download = try await manager.download(try shop.far("/a", host: Self.host))
                    await shop.reach(1_000_000, download)
                    try await body(network, shop, manager, monitor, download)
                    try await shop.expectAll([download], are: resource)
                    #expect(shop.server.requests.map(\.range).last == "bytes=1000000-2999999")
                    let history = try await manager.history(of: download.id)
                    #expect(!history.contains { if case .retrying = $0.kind { true } else { false } })
                    await manager.shutdown()
                }
            }
        }

        @Test("Download: it waits with its bytes while the link is down, and resumes without a counted attempt (B13)")
        func cable() async throws {
            try await begun { network, shop, manager, _, download in
                try network.far("link set eth0 down")
                await shop.reach(download) { $0 == .waiting(.network) }
                #expect(download.status.bytes == 1_000_000)
                #expect(manager.network.kind == .offline)
                #expect(shop.asked.count == 1)
                let gate = Gate()
                shop.server.script("/a", [.hold(gate)])
                try network.far("link set eth0 up")
                let start = ContinuousClock.now
                await gate.arrived()
                print("asked \(ContinuousClock.now - start) after the cable was put back")
                gate.open()
            }
        }

        @Test("Download: it waits while the default route is metered, and resumes when it is back (B13)")
        func metered() async throws {
            try await begun({ $0.allowsMeteredNetwork = false }) { network, shop, manager, _, download in
                try network.far("link set wwan0 up")
                try network.near("link set wwan0 up", "route add default via 10.64.0.1 dev wwan0 metric 50")
                await shop.reach(download) { $0 == .waiting(.network) }
                #expect(download.status.bytes == 1_000_000)
                #expect(manager.network.kind == .metered)
                try network.near("route del default via 10.64.0.1 dev wwan0 metric 50")
            }
        }

        @Test("Download: a removed source address opens its connections again without a counted attempt (B13)")
        func address() async throws {
            try await begun { network, _, _, monitor, _ in
                try network.near("addr add 192.0.2.3/24 dev eth0")
                // An address that was added and removed between two snapshots is no change.
                for await snapshot in monitor.changes() {
                    if snapshot.interfaces.contains(where: { $0.addresses.contains(NamespaceTests.second) }) { break }
                }
                try network.near("addr del 192.0.2.3/24 dev eth0")
            }
        }
    }
#endif
