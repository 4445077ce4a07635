public import Ferry
import FerryCore

/// The current state of a manager's list and connections.
public enum ManagerReading {
    /// The maximum number of hosts with their own series.
    public static let mostHosts = 10

    /// Returns the families of a manager. Throws `catalogue` if its list cannot be read.
    public static func families(of manager: DownloadManager) async throws(DownloadError) -> [MetricFamily] {
        let counts = try await manager.countsByState()
        let states = StateKind.allCases.map { ($0.rawValue, Double(counts[$0] ?? 0)) }
        return [
            MetricFamily(.downloads, states),
            MetricFamily(.slots, Double(manager.configuration.maxConcurrentDownloads)),
        ] + families(of: manager.busyHosts)
    }

    /// The families of hosts, which are sorted by activity, the busiest first.
    static func families(of busy: [BusyHost]) -> [MetricFamily] {
        let busiest = busy.prefix(mostHosts).map { (name: "\($0.origin)", host: $0) }
        return [
            MetricFamily(.connections, busy.reduce(0) { $0 + Double($1.connections) }),
            MetricFamily(.hosts, Double(busy.count { $0.connections > 0 })),
            MetricFamily(.hostConnections, busiest.map { ($0.name, Double($0.host.connections)) }),
            MetricFamily(.hostSpeed, busiest.map { ($0.name, $0.host.bytesPerSecond) }),
        ]
    }
}

extension Metric {
    static let downloads = gauge(
        "ferry_downloads", labels: ["state"], help: "Downloads in the list by state")
    static let slots = gauge(
        "ferry_slots", help: "The largest number of downloads that run at a time")
    static let connections = gauge(
        "ferry_connections", help: "Open connections to servers of files")
    static let hosts = gauge(
        "ferry_hosts", help: "Servers of files to which connections are open")
    static let hostConnections = gauge(
        "ferry_host_connections", labels: ["host"], help: "Open connections to the busiest servers")
    static let hostSpeed = gauge(
        "ferry_host_bytes_per_second", labels: ["host"],
        help: "Bytes per second from the busiest servers, by the first URL of each download")

    /// The metrics of a manager, in the order of its families.
    static let ofManager = [downloads, slots, connections, hosts, hostConnections, hostSpeed]
}
