#if canImport(Darwin)
    import Darwin
    import Dispatch
    import FerryCore
    import Network
    import Synchronization

    /// Monitors the network through `NWPathMonitor`, on a dispatch queue of its own.
    final class NetworkWatch: Sendable {
        /// Opens with the first snapshot.
        let ready = Latch()
        /// Opens when no further snapshot will be published.
        let ended = Latch()

        private struct State {
            var settings: NetworkSettings
            var path: NWPath?
            var published: NetworkSnapshot?
        }
        private let state: Mutex<State>
        private let hub: SnapshotHub
        private let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "ferry-network")

        /// Begins monitoring at once.
        init(hub: SnapshotHub, settings: NetworkSettings) {
            self.hub = hub
            state = Mutex(State(settings: settings))
            monitor.pathUpdateHandler = { [weak self] path in
                guard let self else { return }
                state.withLock { $0.path = path }
                publish()
                ready.open()
            }
            monitor.start(queue: queue)
        }

        /// Requests the end of monitoring; ``ended`` opens when monitoring has ended.
        func end() {
            monitor.cancel()
            queue.async { [ready, ended] in
                ready.open()
                ended.open()
            }
        }

        func set(_ settings: NetworkSettings) {
            state.withLock { $0.settings = settings }
            queue.async { [weak self] in self?.publish() }
        }

        private func publish() {
            let next: NetworkSnapshot? = state.withLock { state in
                guard let path = state.path else { return nil }
                let table = Self.table(path)
                var next = NetworkSnapshot(
                    status: NetworkStatus(
                        isOnline: path.status == .satisfied,
                        isMetered: state.settings.isMetered ?? path.isExpensive,
                        isConstrained: state.settings.isConstrained ?? path.isConstrained),
                    interfaces: table.interfaces, routes: table.routes)
                NetworkVerdict.count(&next, after: state.published)
                state.published = next
                return next
            }
            if let next { hub.update { $0 = next } }
        }

        /// Interfaces with their prefixes, and a default route through the path's preferred interface.
        private static func table(_ path: NWPath) -> NetworkTable {
            var table = NetworkTable()
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return table }
            defer { freeifaddrs(list) }
            var next = list
            while let entry = next?.pointee {
                next = entry.ifa_next
                let name = String(cString: entry.ifa_name)
                let flags = Int32(bitPattern: entry.ifa_flags)
                if !table.interfaces.contains(where: { $0.name == name }) {
                    let isPointToPoint = flags & IFF_POINTOPOINT != 0
                    table.interfaces.append(
                        NetworkInterface(
                            name: name, isUp: flags & IFF_UP != 0 && flags & IFF_RUNNING != 0,
                            isLoopback: flags & IFF_LOOPBACK != 0, isPointToPoint: isPointToPoint,
                            isTunnel: isPointToPoint))
                }
                guard let address = entry.ifa_addr.flatMap({ NetworkAddress($0) }),
                    let index = table.interfaces.firstIndex(where: { $0.name == name })
                else { continue }
                table.interfaces[index].addresses.append(address)
                let interface = table.interfaces[index]
                guard interface.isUp, !interface.isLoopback, !interface.isPointToPoint,
                    let mask = entry.ifa_netmask
                else { continue }
                let written = UnsafeRawBufferPointer(start: mask, count: Int(mask.pointee.sa_len))
                let length = address.prefixLength(ofMask: written)
                table.routes.append(NetworkRoute(NetworkPrefix(address, length: length), interface: name))
            }
            if path.status == .satisfied, let first = path.availableInterfaces.first {
                let isIPv6 = !path.supportsIPv4
                let nothing = NetworkAddress(isIPv6 ? "::" : "0.0.0.0")
                if let nothing {
                    table.routes.append(NetworkRoute(NetworkPrefix(nothing, length: 0), interface: first.name))
                }
            }
            return table
        }
    }
#endif
