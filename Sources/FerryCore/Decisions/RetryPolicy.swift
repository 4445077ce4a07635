/// When to try again, and when to stop trying: exponential back-off with full jitter; progress resets the count.
package struct RetryPolicy: Hashable, Sendable {
    /// Consecutive attempts without progress that are allowed; `nil` for no end.
    package var maxAttempts: Int?
    /// Attempts that failed since there was progress.
    package private(set) var attempts = 0

    private static let base = Duration.milliseconds(500)
    private static let cap = Duration.seconds(60)

    /// `attempts` of an earlier run count.
    package init(maxAttempts: Int?, attempts: Int = 0) {
        self.maxAttempts = maxAttempts
        self.attempts = max(0, attempts)
    }

    package enum Decision: Hashable, Sendable {
        case retry(after: Duration, attempt: Int)
        case giveUp
    }

    package mutating func progressed() { attempts = 0 }

    /// An attempt failed. `random` in 0..<1 spreads the clients; `wish` is the server's Retry-After, obeyed up to
    /// ``RetryAfter/longest``.
    package mutating func failed(wish: Duration? = nil, random: Double) -> Decision {
        attempts = min(attempts, .max - 1) + 1
        if let maxAttempts, attempts > maxAttempts { return .giveUp }
        let ceiling = min(Self.base * (1 << min(attempts - 1, 10)), Self.cap)
        // Never no delay at all: a server that refuses at once would be asked in a tight loop.
        var delay = ceiling * max(0.1, min(1, random))
        if let wish { delay = max(delay, min(wish, RetryAfter.longest)) }
        return .retry(after: delay, attempt: attempts)
    }
}
