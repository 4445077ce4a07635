public import FerryCore
import FerryEngine

/// A server, with its open connections and its current download speed.
public struct BusyHost: Sendable, Hashable {
    /// Scheme, host and port.
    public internal(set) var origin: Origin
    /// The number of open connections.
    public internal(set) var connections = 0
    /// The speed of the downloads whose first URL has this origin, in bytes per second.
    public internal(set) var bytesPerSecond = 0.0

    /// Combines connections and speeds by host; the busiest host comes first.
    package static func all(connections: [Origin: Int], speeds: [(origin: Origin, bytesPerSecond: Double)]) -> [Self] {
        var hosts = connections.reduce(into: [:]) { $0[$1.key] = BusyHost(origin: $1.key, connections: $1.value) }
        for (origin, speed) in speeds where speed.isFinite {
            hosts[origin, default: BusyHost(origin: origin)].bytesPerSecond += max(0, speed)
        }
        return hosts.values.sorted {
            ($0.bytesPerSecond, $0.connections, "\($1.origin)") > ($1.bytesPerSecond, $1.connections, "\($0.origin)")
        }
    }
}

extension Scheduler {
    /// The hosts with open connections or running downloads, the busiest first.
    var busyHosts: [BusyHost] {
        BusyHost.all(
            connections: engine.started?.hosts.open ?? [:],
            speeds: queue.running.compactMap { live, _ in
                // allow(origin): names the server; carries no secret.
                live.request.sources.first.map { ($0.origin, live.status.progress.bytesPerSecond) }
            })
    }
}
