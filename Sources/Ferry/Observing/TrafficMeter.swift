import FerryCore
import Synchronization

/// The download speed of each session, including downloads that begin and end between two polls of the running downloads.
final class TrafficMeter: Sendable {
    private let meters = Mutex<[String: SpeedMeter]>([:])

    func received(_ count: ByteCount, for session: String, at now: Duration) {
        guard count > 0 else { return }
        meters.withLock { $0[session, default: SpeedMeter(startingAt: now)].record(count, at: now) }
    }

    /// Returns the bytes per second of a session, or of all sessions if it is `nil`.
    func bytesPerSecond(of session: String?, at now: Duration) -> Double {
        meters.withLock { meters in
            meters.lazy.filter { session == nil || $0.key == session }.reduce(0) {
                $0 + $1.value.bytesPerSecond(at: now)
            }
        }
    }
}
