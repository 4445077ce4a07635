package import Ferry
import FerryCore

/// What a manager's list and connections are now.
package enum ManagerReading {
    /// The maximum number of hosts that have series of their own.
    package static let mostHosts = 10

    /// Returns the families of a manager. Throws `catalogue` if its list cannot be read.
    package static func families(of manager: DownloadManager) async throws(DownloadError) -> [MetricFamily] {
        let totals = try await manager.totals(session: nil)
        let states = StateKind.allCases.map { ($0.rawValue, Double(totals.counts[$0] ?? 0)) }
        return [
            MetricFamily(.downloads, states),
            MetricFamily(.slots, Double(manager.configuration.maxConcurrentDownloads)),
        ] + families(of: manager.busyHosts)
    }

    /// The families of hosts, which are sorted, the busiest first.
    static func families(of hosts: [BusyHost]) -> [MetricFamily] {
        let busiest = hosts.prefix(mostHosts).map { (name: "\($0.origin)", host: $0) }
        return [
            MetricFamily(.connections, hosts.reduce(0) { $0 + Double($1.connections) }),
            MetricFamily(.hosts, Double(hosts.count { $0.connections > 0 })),
            MetricFamily(.hostConnections, busiest.map { ($0.name, Double($0.host.connections)) }),
            MetricFamily(.hostSpeed, busiest.map { ($0.name, $0.host.bytesPerSecond) }),
        ]
    }
}
