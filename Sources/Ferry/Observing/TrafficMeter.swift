import FerryCore
import Synchronization

/// The speed at which the downloads of each session receive. Those count too that begin and end between two looks at what is
/// running.
final class TrafficMeter: Sendable {
    private let meters = Mutex<[String: SpeedMeter]>([:])

    func received(_ count: ByteCount, for session: String, at now: Duration) {
        guard count > 0 else { return }
        meters.withLock { $0[session, default: SpeedMeter(startingAt: now)].record(count, at: now) }
    }

    /// Returns the bytes per second of a session, or with `nil` of all.
    func bytesPerSecond(of session: String?, at now: Duration) -> Double {
        meters.withLock { meters in
            meters.lazy.filter { session == nil || $0.key == session }.reduce(0) {
                $0 + $1.value.bytesPerSecond(at: now)
            }
        }
    }
}
