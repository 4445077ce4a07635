import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why a queued download is not running, as its status shows it.
struct Standing: Sendable, Hashable {
    var reason: WaitReason
    var error: DownloadError?

    static let slot = Standing(reason: .slot)
}

/// Converts monotonic times to dates. A time keeps its date until the wall clock is set or the machine has slept, so that values
/// derived from the same state stay equal.
struct WallTimes: Sendable {
    private var start: Date?

    mutating func date(of time: Duration, _ clock: any EngineClock) -> Date {
        let now = clock.date().addingTimeInterval(-clock.now().seconds)
        if let start, abs(now.timeIntervalSince(start)) < 1 {} else { start = now }
        return (start ?? now).addingTimeInterval(time.seconds)
    }
}
