import FerryCore
import FerryMetrics
import Synchronization

/// The counters of the gateway since its start, for the metrics.
final class GatewayCounts: Sendable {
    /// Why a file left the cache.
    enum Eviction: String, Sendable, Hashable, CaseIterable {
        /// The cache exceeded its maximum size.
        case size
        /// The file was not used for too long.
        case age
        /// Another file needed the space on the disk.
        case space
        /// A user removed the file.
        case purged
        /// The file did not match its digest, when it was fetched or later.
        case damaged
    }

    private struct State {
        var requests: [[String]: Int] = [:]
        var refused: [String: Int] = [:]
        var refusedUsers = RefusedUsers()
        var evictions: [Eviction: Int] = [:]
        var savedBytes: ByteCount = 0
        var sentBytes: ByteCount = 0
        var files = 0
        var bytes: ByteCount = 0
    }
    private let state = Mutex(State())

    func answered(_ end: GatewayNote.End) {
        state.withLock { state in
            state.requests[[end.kind?.rawValue ?? "none", end.result.rawValue], default: 0] += 1
            if end.result == .refused, let reason = end.reason { state.refused[reason, default: 0] += 1 }
            state.sentBytes = state.sentBytes.adding(end.bytes)
            if end.result.isSaved { state.savedBytes = state.savedBytes.adding(end.bytes) }
        }
    }

    /// Counts a connection that was refused before a request was read, because of its user. If a log entry about the user is due,
    /// returns the number of the user's connections since the last one.
    func refused(user: UInt32, at now: ContinuousClock.Instant) -> Int? {
        state.withLock { state in
            state.refused["user", default: 0] += 1
            return state.refusedUsers.refused(user, at: now)
        }
    }

    func evicted(_ reason: Eviction) { state.withLock { $0.evictions[reason, default: 0] += 1 } }

    /// Sets the current content of the cache.
    func holds(files: Int, bytes: ByteCount) { state.withLock { ($0.files, $0.bytes) = (files, bytes) } }

    /// - Parameters:
    ///   - size: The maximum size of the cache.
    ///   - free: The free bytes of its disk; `nil` if unknown.
    func families(size: ByteCount, free: ByteCount?) -> [MetricFamily] {
        let state = state.withLock { $0 }
        func sorted(_ counts: [String: Int]) -> [(label: String, number: Double)] {
            counts.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }
        }
        let evictions = Eviction.allCases.map { (label: $0.rawValue, number: Double(state.evictions[$0] ?? 0)) }
        let requests = state.requests.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return [
            MetricFamily(
                .gatewayRequests, requests.map { MetricFamily.Series($0.key, .number(Double($0.value))) }),
            MetricFamily(.gatewayRefused, sorted(state.refused)),
            MetricFamily(.gatewaySent, Double(state.sentBytes)), MetricFamily(.gatewaySaved, Double(state.savedBytes)),
            MetricFamily(.gatewayEvictions, evictions),
            MetricFamily(.gatewayFiles, Double(state.files)), MetricFamily(.gatewayBytes, Double(state.bytes)),
            MetricFamily(.gatewayLimit, Double(size)),
            free.map { MetricFamily(.gatewayFree, Double($0)) } ?? MetricFamily(.gatewayFree, [MetricFamily.Series]()),
        ]
    }
}

extension Metric {
    static let gatewayRequests = counter(
        "ferry_gateway_requests_total", labels: ["kind", "result"],
        help: "Requests that the gateway has answered, by kind of upstream and result")
    static let gatewayRefused = counter(
        "ferry_gateway_refused_total", labels: ["reason"], help: "Requests that the gateway has refused, by reason")
    static let gatewaySent = counter(
        "ferry_gateway_sent_bytes_total", help: "Bytes of content that the gateway has sent")
    static let gatewaySaved = counter(
        "ferry_gateway_saved_bytes_total", help: "Bytes among them that were not fetched for the request")
    static let gatewayEvictions = counter(
        "ferry_gateway_evictions_total", labels: ["reason"],
        help: "Files that have left the cache of the gateway, by reason")
    static let gatewayFiles = gauge("ferry_gateway_cached_files", help: "Files in the cache of the gateway")
    static let gatewayBytes = gauge("ferry_gateway_cached_bytes", help: "Bytes of files in the cache of the gateway")
    static let gatewayLimit = gauge(
        "ferry_gateway_limit_bytes", help: "The largest number of bytes that the cache of the gateway keeps")
    static let gatewayFree = gauge(
        "ferry_gateway_free_bytes", help: "Free bytes in the directory of the gateway's cache")

    /// The metrics of the gateway, in the order of its families.
    static let ofGateway = [
        gatewayRequests, gatewayRefused, gatewaySent, gatewaySaved, gatewayEvictions, gatewayFiles, gatewayBytes,
        gatewayLimit, gatewayFree,
    ]
}
