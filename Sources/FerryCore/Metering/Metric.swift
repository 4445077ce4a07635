/// A metric of Ferry, by its name in Prometheus' conventions: `_total` for counters, base units, seconds and bytes.
///
/// Those of ``isMeasured`` are given to the metrics system of the program when they happen, under this name; the others
/// are read when the daemon or a worker is asked for its metrics. [docs/metrics.md](docs/metrics.md) has the table.
package enum Metric: String, Sendable, Hashable, CaseIterable {
    // The transfer
    case receivedBytes = "ferry_received_bytes_total"
    case requests = "ferry_requests_total"
    case firstByte = "ferry_first_byte_seconds"
    case sync = "ferry_sync_seconds"
    case checkpoint = "ferry_checkpoint_seconds"
    // The downloads
    case added = "ferry_downloads_added_total"
    case ended = "ferry_downloads_ended_total"
    case interrupted = "ferry_downloads_interrupted_total"
    case duration = "ferry_download_seconds"
    case catalogue = "ferry_catalogue_seconds"
    // What is read when the metrics are asked for
    case info = "ferry_info"
    case downloads = "ferry_downloads"
    case slots = "ferry_slots"
    case connections = "ferry_connections"
    case hosts = "ferry_hosts"
    case hostConnections = "ferry_host_connections"
    case hostSpeed = "ferry_host_bytes_per_second"
    case freeBytes = "ferry_free_bytes"
    case sessions = "ferry_sessions"
    case clients = "ferry_clients"
    // The gateway
    case gatewayRequests = "ferry_gateway_requests_total"
    case gatewayRefused = "ferry_gateway_refused_total"
    case gatewaySent = "ferry_gateway_sent_bytes_total"
    case gatewaySaved = "ferry_gateway_saved_bytes_total"
    case gatewayEvictions = "ferry_gateway_evictions_total"
    case gatewayFiles = "ferry_gateway_cached_files"
    case gatewayBytes = "ferry_gateway_cached_bytes"
    case gatewayLimit = "ferry_gateway_limit_bytes"
    case gatewayFree = "ferry_gateway_free_bytes"
    // The process, by the names of Prometheus' own clients
    case processorSeconds = "process_cpu_seconds_total"
    case residentBytes = "process_resident_memory_bytes"
    case virtualBytes = "process_virtual_memory_bytes"
    case openDescriptors = "process_open_fds"
    case mostDescriptors = "process_max_fds"
    case threads = "process_threads"
    case started = "process_start_time_seconds"
    // A worker of a fleet
    case fleetStatements = "ferry_fleet_statement_seconds"
    case fleetFailures = "ferry_fleet_statements_failed_total"
    case fleetConnections = "ferry_fleet_connections_total"
    case fleetEnded = "ferry_fleet_rows_ended_total"
    case fleetRows = "ferry_fleet_rows"
    case fleetLeases = "ferry_fleet_leases"
    case fleetDeadline = "ferry_fleet_deadline_seconds"
    case fleetFenced = "ferry_fleet_fenced"
    case fleetUp = "ferry_fleet_database_up"
    case fleetSilence = "ferry_fleet_silence_seconds"
    case fleetAge = "ferry_fleet_worker_seconds"

    package enum Kind: String, Sendable, Hashable { case counter, gauge, histogram }

    package var kind: Kind {
        switch self {
        case .firstByte, .sync, .checkpoint, .duration, .catalogue, .fleetStatements: .histogram
        case _ where rawValue.utf8.hasSuffix("_total"): .counter
        default: .gauge
        }
    }

    /// One sentence, without a full stop.
    package var help: String {
        switch self {
        case .receivedBytes: "Bytes of files that were received, also those that are received again"
        case .requests: "Requests for files by the class of the response, or failed if there was none"
        case .firstByte: "Time from a request to the head of its response, with connecting and redirects"
        case .sync: "Time of a sync of a part file to the disk"
        case .checkpoint: "Time of a checkpoint: the sync, then the claim in the journal"
        case .added: "Downloads that were added to the list"
        case .ended: "Downloads that ended, by result and the code of the error"
        case .interrupted: "Retries, restarts from zero, and waits for a network, the disk or the user"
        case .duration: "Time of the run that completed a download"
        case .catalogue: "Time of an operation of the list's database, with waiting for its turn"
        case .info: "1, with the version as label"
        case .downloads: "Downloads in the list by state"
        case .slots: "The largest number of downloads that run at a time"
        case .connections: "Open connections to servers of files"
        case .hosts: "Servers of files to which connections are open"
        case .hostConnections: "Open connections to the busiest servers"
        case .hostSpeed: "Bytes per second from the busiest servers, by the first URL of each download"
        case .freeBytes: "Free bytes in the directory of downloads"
        case .sessions: "Sessions that the daemon knows"
        case .clients: "Clients that follow the events"
        case .gatewayRequests: "Requests that the gateway has answered, by kind of upstream and result"
        case .gatewayRefused: "Requests that the gateway has refused, by reason"
        case .gatewaySent: "Bytes of content that the gateway has sent"
        case .gatewaySaved: "Bytes among them that were not fetched for the request"
        case .gatewayEvictions: "Files that have left the cache of the gateway, by reason"
        case .gatewayFiles: "Files in the cache of the gateway"
        case .gatewayBytes: "Bytes of files in the cache of the gateway"
        case .gatewayLimit: "The largest number of bytes that the cache of the gateway keeps"
        case .gatewayFree: "Free bytes in the directory of the gateway's cache"
        case .processorSeconds: "Time on processors, of the user and the system"
        case .residentBytes: "Resident memory"
        case .virtualBytes: "Virtual memory"
        case .openDescriptors: "Open file descriptors"
        case .mostDescriptors: "The largest number of open file descriptors"
        case .threads: "Threads of the process"
        case .started: "The start of the process, in seconds since 1970"
        case .fleetStatements: "Time of a statement that the fleet's database answered, without waiting for its turn"
        case .fleetFailures: "Statements of the fleet's database that failed, also for want of a connection"
        case .fleetConnections: "Connections that were made to the fleet's database"
        case .fleetEnded: "Rows that ended, by result"
        case .fleetRows: "Rows of held leases: waiting, running, or ended with a result that the database lacks"
        case .fleetLeases: "Leases that the worker holds"
        case .fleetDeadline: "Time until all files stop if no heartbeat is answered; negative once they have stopped"
        case .fleetFenced: "1 while no file may run, as the leases may have ended"
        case .fleetUp: "1 while the database answers the worker"
        case .fleetSilence: "Time since the last answer of the database, or since the start"
        case .fleetAge: "Time since the start of the worker, on a clock that never jumps"
        }
    }

    /// The names of the labels, in their order.
    package var labels: [String] {
        switch self {
        case .requests: ["result"]
        case .ended: ["result", "reason"]
        case .interrupted: ["reason"]
        case .catalogue: ["operation"]
        case .gatewayRequests: ["kind", "result"]
        case .gatewayRefused, .gatewayEvictions: ["reason"]
        case .info: ["version"]
        case .downloads: ["state"]
        case .hostConnections, .hostSpeed: ["host"]
        case .fleetStatements, .fleetFailures: ["statement"]
        case .fleetEnded: ["result"]
        case .fleetRows: ["state"]
        default: []
        }
    }

    /// The upper bounds of the buckets of a histogram in seconds, ascending, without infinity.
    package var buckets: [Double] {
        switch self {
        case .firstByte: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
        case .sync, .checkpoint, .catalogue:
            [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
        case .duration: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]
        case .fleetStatements: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
        default: []
        }
    }

    /// Whether the metric is counted when something happens, not read when the metrics are asked for.
    package var isMeasured: Bool {
        switch self {
        case .receivedBytes, .requests, .firstByte, .sync, .checkpoint, .added, .ended, .interrupted, .duration,
            .catalogue, .fleetStatements, .fleetFailures, .fleetConnections:
            true
        default: false
        }
    }

    /// Whether workers of a fleet have the metric, and daemons do not.
    package var isOfFleet: Bool { rawValue.utf8.hasPrefix("ferry_fleet_") }
}
