import FerryCore

/// A download's place in the queue, and what it waits for there.
struct QueueSpot: Sendable {
    var key: QueueKey
    /// Which networks it may use.
    var rule: NetworkRule
    /// It does not start before; monotonic.
    var until: Duration?
    var host: String?
    /// Who asked for it.
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
