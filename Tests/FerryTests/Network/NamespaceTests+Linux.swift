#if os(Linux)
    import Ferry
    import FerryCore
    import FerryTesting
    import Foundation
    import Testing

    /// The real kernel, with networks of the test's own.
    @Suite(
        .enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"),
        .timeLimit(.minutes(30)))
    struct NamespaceTests {
        /// Runs a body with a monitor of a network with a default route through eth0.
        func watch(
            settings: NetworkSettings = NetworkSettings(),
            _ body: (NetworkNamespace, SystemNetworkMonitor) async throws -> Void
        ) async throws {
            try await NetworkNamespace.with { network in
                try network.near("route add default via 192.0.2.1 dev eth0 metric 100")
                let monitor = SystemNetworkMonitor(settings, tools: .none) { network.sockets() }
                await monitor.start()
                try await body(network, monitor)
                await monitor.stop()
            }
        }

        /// The first snapshot that meets the condition.
        func reach(
            _ monitor: SystemNetworkMonitor, _ looksSo: (NetworkSnapshot) -> Bool
        ) async throws -> NetworkSnapshot {
            for await snapshot in monitor.changes() where looksSo(snapshot) { return snapshot }
            throw CancellationError()
        }

        @Test func `System monitor: the first snapshot is there when start returns`() async throws {
            try await watch { _, monitor in
                #expect(monitor.current.status == .online)
                #expect(monitor.current.defaultInterface == "eth0")
                #expect(monitor.current.generation == 0)
            }
        }

        @Test func `System monitor: a link set down and up is offline, then online in a new generation`() async throws {
            try await watch { network, monitor in
                try network.far("link set eth0 down")
                let down = try await reach(monitor) { !$0.status.isOnline }
                #expect(down.generation == 0)
                #expect(!down.isLocal("192.0.2.9"), "nothing is at the other end")
                try network.far("link set eth0 up")
                let up = try await reach(monitor) { $0.status.isOnline }
                #expect(up.generation == 1)
                #expect(up.isLocal("192.0.2.9"))
            }
        }

        @Test func `System monitor: an interface set down and up is online with its default route`() async throws {
            try await watch { network, monitor in
                try network.near("link set eth0 down")
                _ = try await reach(monitor) { !$0.status.isOnline }
                try network.near("link set eth0 up")
                let near = try await reach(monitor) { $0.isLocal("192.0.2.9") }
                #expect(!near.status.isOnline, "the default route went with it")
                try network.near("route add default via 192.0.2.1 dev eth0")
                _ = try await reach(monitor) { $0.status.isOnline }
            }
        }

        @Test func `System monitor: a removed address is a new generation, an added one is not`() async throws {
            try await watch { network, monitor in
                try network.near("addr add 192.0.2.3/24 dev eth0")
                let both = try await reach(monitor) { $0.interfaces.contains { $0.addresses.contains(Self.second) } }
                #expect(both.generation == 0)
                try network.near("addr del 192.0.2.3/24 dev eth0")
                let gone = try await reach(monitor) { !$0.interfaces.contains { $0.addresses.contains(Self.second) } }
                #expect(gone.generation == 1)
                #expect(gone.status.isOnline)
            }
        }

        static let second = NetworkAddress("192.0.2.3")!

        @Test func `System monitor: a default route to a mobile network and back is two generations`() async throws {
            try await watch { network, monitor in
                try network.far("link set wwan0 up")
                try network.near("link set wwan0 up")
                let second = try await reach(monitor) { $0.isLocal("10.64.0.1") }
                #expect(second.generation == 0)
                #expect(second.status == .online)
                try network.near("route add default via 10.64.0.1 dev wwan0 metric 50")
                let moved = try await reach(monitor) { $0.status.isMetered }
                #expect(moved.status.kind == .metered)
                #expect(moved.defaultInterface == "wwan0")
                #expect(moved.generation == 1)
                try network.near("route del default via 10.64.0.1 dev wwan0 metric 50")
                let back = try await reach(monitor) { !$0.status.isMetered }
                #expect(back.status == .online)
                #expect(back.generation == 2)
            }
        }

        @Test func `System monitor: addresses on the link are local, those behind a router are not`() async throws {
            try await watch { _, monitor in
                #expect(await monitor.isLocal("192.0.2.77"))
                #expect(await monitor.isLocal("127.0.0.1"))
                #expect(await !monitor.isLocal("198.51.100.1"))
                #expect(await !monitor.isLocal("192.0.3.1"))
            }
        }

        @Test func `System monitor: a network of IPv6 alone is online once its address is verified`() async throws {
            try await NetworkNamespace.with { network in
                try network.near("addr del 192.0.2.2/24 dev eth0")
                let monitor = SystemNetworkMonitor(tools: .none) { network.sockets() }
                await monitor.start()
                #expect(!monitor.current.status.isOnline)
                try network.near("addr add 2001:db8::2/64 dev eth0", "-6 route add default via 2001:db8::1 dev eth0")
                let up = try await reach(monitor) { $0.status.isOnline }
                #expect(up.isLocal("2001:db8::9"))
                await monitor.stop()
            }
        }

        @Test func `System monitor: after thousands of route changes its snapshot is complete`() async throws {
            try await watch { network, monitor in
                // Two thousand routes: each is an event.
                let file = FileManager.default.temporaryDirectory.path + "/ferry-batch-" + UUID().uuidString
                let lines = (0..<2000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 192.0.2.9" }
                try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
                defer { try? FileManager.default.removeItem(atPath: file) }
                try network.near("-batch \(file)")
                let full = try await reach(monitor) { $0.routes.count >= 2002 }
                #expect(full.generation == 0)
                #expect(full.status == .online)
                try network.near("route del default")
                _ = try await reach(monitor) { !$0.status.isOnline }
            }
        }

        @Test func `System monitor: it starts again after stop, and is released without a stop`() async throws {
            try await watch { network, monitor in
                await monitor.stop()
                await monitor.start()
                try network.near("route del default")
                _ = try await reach(monitor) { !$0.status.isOnline }
                weak var released: SystemNetworkMonitor?
                do {
                    let other = SystemNetworkMonitor(tools: .none) { network.sockets() }
                    await other.start()
                    released = other
                }
                #expect(released == nil)
            }
        }

        @Test func `System monitor: new settings apply at once`() async throws {
            try await watch { _, monitor in
                monitor.set(NetworkSettings(isMetered: true, isConstrained: true))
                _ = try await reach(monitor) { $0.status.isMetered && $0.status.isConstrained }
                monitor.set(NetworkSettings())
                _ = try await reach(monitor) { $0.status == .online }
            }
        }
    }
#endif
