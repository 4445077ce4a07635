import FerryCore

/// Decides when a reader gets the status of a download that wants one for each interval: a change of the state at once,
/// progress at most once in an interval, and after it the latest one that was kept.
struct UpdatePace {
    private let interval: Duration
    private var last: (state: DownloadState, time: Duration)?
    private var kept: DownloadStatus?

    enum Decision: Equatable {
        case deliver
        /// The status is kept; ask at that time.
        case ask(at: Duration)
        /// The status is kept, and the time to ask is known already.
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

    /// Takes the status that is due; `nil` if it was replaced by one that was delivered at once. At the end of all
    /// statuses none is early.
    mutating func due(at now: Duration, isEnd: Bool = false) -> DownloadStatus? {
        guard let status = kept, let last, isEnd || now - last.time >= interval else { return nil }
        (self.last, kept) = ((status.state, now), nil)
        return status
    }
}
