import FerryCore
import FerryMetrics
import Synchronization

/// What the gateway has done since the start, for the metrics.
final class GatewayCounts: Sendable {
    /// Why a file left the cache.
    enum Eviction: String, Sendable, Hashable, CaseIterable {
        /// The cache was larger than it may be.
        case size
        /// It was not used for too long.
        case age
        /// Another file needed its room on the disk.
        case space
        /// A user wanted it.
        case purged
        /// It had not its digest any more.
        case damaged
    }

    private struct State {
        var requests: [[String]: Int] = [:]
        var refused: [String: Int] = [:]
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

    /// Counts a connection that was not read, or another one that has no request.
    func refused(_ reason: String) { state.withLock { $0.refused[reason, default: 0] += 1 } }

    func evicted(_ reason: Eviction) { state.withLock { $0.evictions[reason, default: 0] += 1 } }

    /// Takes over what the cache holds now.
    func holds(files: Int, bytes: ByteCount) { state.withLock { ($0.files, $0.bytes) = (files, bytes) } }

    /// The families; of a daemon without a gateway without values.
    ///
    /// - Parameter limits: The maximum size of the cache, and the free bytes of its disk.
    func families(_ limits: (size: ByteCount, free: ByteCount?)?) -> [MetricFamily] {
        let state = state.withLock { $0 }
        func sorted(_ counts: [String: Int]) -> [(label: String, number: Double)] {
            counts.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }
        }
        func one(_ metric: Metric, _ number: Double?) -> MetricFamily {
            guard limits != nil, let number else { return MetricFamily(metric, [MetricFamily.Series]()) }
            return MetricFamily(metric, number)
        }
        let evictions = Eviction.allCases.map { (label: $0.rawValue, number: Double(state.evictions[$0] ?? 0)) }
        let requests = state.requests.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return [
            MetricFamily(
                .gatewayRequests, requests.map { MetricFamily.Series($0.key, .number(Double($0.value))) }),
            MetricFamily(.gatewayRefused, sorted(state.refused)),
            one(.gatewaySent, Double(state.sentBytes)), one(.gatewaySaved, Double(state.savedBytes)),
            MetricFamily(.gatewayEvictions, limits == nil ? [] : evictions),
            one(.gatewayFiles, Double(state.files)), one(.gatewayBytes, Double(state.bytes)),
            one(.gatewayLimit, limits.map { Double($0.size) }),
            one(.gatewayFree, limits?.free.map { Double($0) }),
        ]
    }
}
