import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why a queued download does not run now, as its status shows it.
struct Standing: Sendable, Hashable {
    var reason: WaitReason
    var error: DownloadError?

    static let slot = Standing(reason: .slot)
}

/// Dates of times since a fixed start. A time keeps its date, so that equal states are equal, until the wall clock is set
/// or the machine has slept.
struct WallTimes: Sendable {
    private var start: Date?

    mutating func date(of time: Duration, _ clock: any EngineClock) -> Date {
        let now = clock.date().addingTimeInterval(-clock.now().seconds)
        if let start, abs(now.timeIntervalSince(start)) < 1 {} else { start = now }
        return (start ?? now).addingTimeInterval(time.seconds)
    }
}

extension Scheduler {
    /// The place of a download that waits for a slot.
    func slotPlace(of id: DownloadID) -> (before: Int, running: Int, limit: Int)? {
        state.withLock { state in
            state.queue.countBefore(id).map { ($0, state.queue.slotsTaken, state.queue.rules.limit) }
        }
    }
}

extension Scheduler.State {
    /// The reason why a queued download waits, as its status shows it; `nil` if it is not queued.
    mutating func standing(of id: DownloadID, _ clock: any EngineClock) -> Standing? {
        switch queue.hindrance(of: id) {
        case nil: return nil
        case .slot: return .slot
        case .network(let obstacle):
            let error = DownloadError(.network, ErrorPhrase(obstacle), recovery: .transient(retryAfter: nil))
            return Standing(reason: .network, error: error)
        case .server(let origin, let wait):
            let since = wait.since.map { times.date(of: $0, clock) }
            let until = wait.until.map { times.date(of: $0, clock) }
            return Standing(reason: .server(since: since, until: until), error: wait.error(of: origin.host))
        }
    }
}
