import FerryCore

/// Derives the network's status from the system's data, and determines whether connections must be reopened. Has no side effects.
package enum NetworkVerdict {
    /// Returns the snapshot that follows `before`.
    ///
    /// - Parameters:
    ///   - table: Interfaces and routes; `nil` if unavailable, in which case the network counts as online.
    ///   - manager: NetworkManager's value; `nil` if it is not running.
    ///   - before: The previous snapshot; `nil` for the first, whose generation is 0.
    package static func judge(
        _ table: NetworkTable?, manager: MeteredAnswer?, settings: NetworkSettings, before: NetworkSnapshot?
    ) -> NetworkSnapshot {
        let table = usable(table)
        var next = NetworkSnapshot(
            status: .online, interfaces: table?.interfaces ?? [], routes: table?.routes ?? [])
        next.status.isOnline = table.map { isOnline($0) } ?? true
        next.status.isMetered = settings.isMetered ?? isMetered(next, manager: manager)
        next.status.isConstrained = settings.isConstrained ?? false
        count(&next, after: before)
        return next
    }

    /// Sets the generation of a snapshot from its predecessor's; the first has 0.
    static func count(_ next: inout NetworkSnapshot, after before: NetworkSnapshot?) {
        guard let before else { return next.generation = 0 }
        next.generation = before.generation + (breaks(before, next) ? 1 : 0)
    }

    /// The table without routes through interfaces that are down or unknown.
    private static func usable(_ table: NetworkTable?) -> NetworkTable? {
        guard var table else { return nil }
        let up = Set(table.interfaces.lazy.filter(\.isUp).map(\.name))
        table.routes = table.routes.filter { up.contains($0.interface) }
        return table
    }

    // MARK: Online

    private static func isOnline(_ table: NetworkTable) -> Bool {
        let tunnels = Set(table.interfaces.lazy.filter { $0.isTunnel || $0.isLoopback }.map(\.name))
        // A tunnel stays up without its carrier, so a carrier is required, except where all interfaces are tunnels, as in a
        // container.
        let isCarried =
            table.routes.contains { ($0.isDefault || $0.gateway != nil) && !tunnels.contains($0.interface) }
            || table.interfaces.allSatisfy { tunnels.contains($0.name) }
        return table.routes.contains { route in
            route.isDefault && (isCarried || !tunnels.contains(route.interface))
                && hasAddress(table, isIPv6: route.destination.address.isIPv6)
        }
    }

    private static func hasAddress(_ table: NetworkTable, isIPv6: Bool) -> Bool {
        table.interfaces.contains { interface in
            interface.isUp
                && interface.addresses.contains {
                    $0.isIPv6 == isIPv6 && !$0.isLoopback && !($0.isIPv6 && $0.isLinkLocal)
                }
        }
    }

    // MARK: Metered

    private static func isMetered(_ snapshot: NetworkSnapshot, manager: MeteredAnswer?) -> Bool {
        switch manager {
        case .yes, .guessYes: true
        case .no: false
        // The interface's name is more reliable than a guess.
        case .guessNo, .unknown, nil: leavesThroughMobile(snapshot)
        }
    }

    /// Whether the carrier of a default route, of either family, is a mobile network.
    private static func leavesThroughMobile(_ snapshot: NetworkSnapshot) -> Bool {
        let interfaces = Dictionary(snapshot.interfaces.map { ($0.name, $0) }) { first, _ in first }
        return [false, true].contains { isIPv6 in
            guard let best = snapshot.bestDefault(isIPv6: isIPv6), let interface = interfaces[best.interface] else {
                return false
            }
            guard interface.isTunnel else { return interface.isMobile }
            // The carriers of the tunnel: routes whose gateway is not reached through a tunnel.
            let carriers = snapshot.routes.filter {
                ($0.isDefault || $0.gateway != nil) && interfaces[$0.interface]?.isTunnel == false
            }
            return carriers.min { $0.rank < $1.rank }.flatMap { interfaces[$0.interface] }?.isMobile ?? false
        }
    }

    // MARK: Generation

    /// Whether connections opened under the first snapshot are unusable under the second.
    private static func breaks(_ before: NetworkSnapshot, _ after: NetworkSnapshot) -> Bool {
        guard before.status.isOnline == after.status.isOnline else { return after.status.isOnline }
        let remaining = Set(after.interfaces.lazy.filter(\.isUp).flatMap(\.addresses))
        if !sources(before).isSubset(of: remaining) { return true }
        // A family without a default route had no connections.
        return [false, true].contains { isIPv6 in
            let old = paths(before, isIPv6: isIPv6)
            return !old.isEmpty && old != paths(after, isIPv6: isIPv6)
        }
    }

    /// The source addresses of connections: those of the interfaces with a default route, or of all interfaces if there is no
    /// default route.
    private static func sources(_ snapshot: NetworkSnapshot) -> Set<NetworkAddress> {
        let outside = Set(snapshot.routes.lazy.filter(\.isDefault).map(\.interface))
        return Set(
            snapshot.interfaces.lazy
                .filter { $0.isUp && !$0.isLoopback && (outside.isEmpty || outside.contains($0.name)) }
                .flatMap(\.addresses))
    }

    private struct Path: Hashable {
        var table: Int
        var interface: String
        var gateway: NetworkAddress?
    }

    /// The best default route of each table, because routing rules may select any table.
    private static func paths(_ snapshot: NetworkSnapshot, isIPv6: Bool) -> Set<Path> {
        let ways = snapshot.routes.filter { $0.isDefault && $0.destination.address.isIPv6 == isIPv6 }
        let best = Dictionary(grouping: ways, by: \.table).values.compactMap { $0.min { $0.metric < $1.metric } }
        return Set(best.map { Path(table: $0.table, interface: $0.interface, gateway: $0.gateway) })
    }
}
