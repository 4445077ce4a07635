import FerryCore

/// The position and conditions of a queued download.
struct QueueSpot: Sendable {
    var key: QueueKey
    /// The networks that the download may use.
    var rule: NetworkRule
    /// The earliest start, monotonic.
    var until: Duration?
    var host: String?
    /// The session that added the download.
    var session: String

    init(
        _ key: QueueKey, _ rule: NetworkRule, until: Duration? = nil, host: String?, session: String
    ) {
        self.key = key
        self.rule = rule
        self.until = until
        self.host = host
        self.session = session
    }
}
