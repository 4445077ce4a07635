#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    @testable import Ferry
    @testable import FerryEngine

    /// Downloads under the rules, with what the real kernel says of networks of the test's own. Only what is said comes from
    /// there: the bytes come from this machine.
    @Suite(
        "Downloads and the kernel's networks",
        .enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"),
        .timeLimit(.minutes(30)))
    struct NamespaceDownloadTests {
        /// Behind the router of eth0.
        private static let host = "198.51.100.1"

        /// A download of which 1 MB has come and the rest does not, until its connection is another one.
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
                        $0.maxAttempts = 1
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

        @Test("B13: the cable is pulled: it waits with its bytes; put back: it goes on, and no attempt was counted")
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

        @Test(
            "B13: the way out moves to a mobile network: it waits where that is not allowed, and goes on after it moved back"
        )
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

        @Test("B13: another address: its connections are made anew, and it goes on without waiting")
        func address() async throws {
            try await begun { network, _, _, monitor, _ in
                try network.near("addr add 192.0.2.3/24 dev eth0")
                // One that came and went before anybody looked is no change.
                for await snapshot in monitor.changes() {
                    if snapshot.interfaces.contains(where: { $0.addresses.contains(NamespaceTests.second) }) { break }
                }
                try network.near("addr del 192.0.2.3/24 dev eth0")
            }
        }
    }
#endif
