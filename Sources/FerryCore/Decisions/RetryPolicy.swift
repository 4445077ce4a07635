/// Exponential back-off with jitter; progress resets the number of retries.
package struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of consecutive retries without progress; `nil` for no limit.
    package var maxRetries: Int?
    /// The state with which the next run continues.
    package private(set) var memory: RetryMemory
    /// The number of failed attempts since the last progress.
    package var attempts: Int { memory.attempts }

    private static let base = Duration.milliseconds(500)
    private static let cap = Duration.seconds(60)

    /// Continues with the state of an earlier run.
    package init(maxRetries: Int?, memory: RetryMemory = RetryMemory()) {
        self.maxRetries = maxRetries
        self.memory = memory
        self.memory.attempts = max(0, memory.attempts)
        self.memory.changes = max(0, memory.changes)
    }

    package enum Decision: Hashable, Sendable {
        case retry(after: Duration, attempt: Int)
        case giveUp
    }

    package mutating func progressed() { memory.attempts = 0 }

    /// Sets the number of bytes that are present: only additional bytes count as progress.
    mutating func holds(_ bytes: ByteCount) { memory.mostBytes = max(memory.mostBytes, bytes) }

    /// Records the number of present bytes. They count as progress if they exceed the maximum so far by at least
    /// `least`.
    mutating func progressed(to bytes: ByteCount, worth least: ByteCount) {
        guard bytes - memory.mostBytes >= least else { return }
        memory.mostBytes = bytes
        progressed()
    }

    /// Records that the file was found to have changed, so that its bytes are counted again from zero.
    mutating func fileChanged() {
        memory.mostBytes = 0
        memory.changes += 1
    }

    /// Counts a failed attempt. `random` in 0..<1 is the jitter. `wish` is the server's Retry-After, respected up to
    /// ``RetryAfter/longest``. `most` is another maximum number of retries; the lower of it and ``maxRetries``
    /// applies.
    package mutating func failed(wish: Duration? = nil, most: Int? = nil, random: Double) -> Decision {
        memory.attempts = min(attempts, .max - 1) + 1
        if let limit = [maxRetries, most].compactMap(\.self).min(), attempts > limit { return .giveUp }
        let ceiling = min(Self.base * (1 << min(attempts - 1, 10)), Self.cap)
        // At least a tenth of the delay, because a server that refuses at once would otherwise be retried in a tight
        // loop.
        var delay = ceiling * max(0.1, min(1, random))
        if let wish { delay = max(delay, min(wish, RetryAfter.longest)) }
        return .retry(after: delay, attempt: attempts)
    }
}

/// The retry state that is carried from one run of a download to the next.
///
/// A run that ends with a back-off releases its slot; the next run continues the count.
package struct RetryMemory: Hashable, Sendable, Codable {
    /// The number of failed attempts since the last progress.
    package var attempts = 0
    /// The number of times that the host name had no address.
    package var missingNames = 0
    /// The number of times that the file was found to have changed.
    package var changes = 0
    /// The maximum number of bytes present for this file so far: only additional bytes count as progress.
    package var mostBytes: ByteCount = 0

    package init() {}
}
