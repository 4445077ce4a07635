import FerryCore

/// Decides when a reader that requests at most one status per interval gets each status: a change of the state at once, progress
/// at most once
/// per interval, and the latest kept status after the interval.
struct UpdatePace {
    private let interval: Duration
    private var last: (state: DownloadState, time: Duration)?
    private var kept: DownloadStatus?

    enum Decision: Equatable {
        case deliver
        /// The status is kept; call ``due(at:isEnd:)`` at that time.
        case ask(at: Duration)
        /// The status is kept, and the time for the call is already known.
        case keep
    }

    init(interval: Duration) { self.interval = interval }

    mutating func received(_ status: DownloadStatus, at now: Duration) -> Decision {
        if let last, last.state == status.state, now - last.time < interval {
            defer { kept = status }
            return kept == nil ? .ask(at: last.time + interval) : .keep
        }
        (last, kept) = ((status.state, now), nil)
        return .deliver
    }

    /// Removes and returns the status that is due; `nil` if a status that was delivered at once has replaced it. With `isEnd`, the
    /// kept status is due regardless of the time.
    mutating func due(at now: Duration, isEnd: Bool = false) -> DownloadStatus? {
        guard let status = kept, let last, isEnd || now - last.time >= interval else { return nil }
        (self.last, kept) = ((status.state, now), nil)
        return status
    }
}
