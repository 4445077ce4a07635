#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The database's clock, as of its last answer, because this machine's clock may be wrong. Between two answers it advances with the
/// monotonic clock of the process.
struct DatabaseClock: Sendable {
    private var date = Date(timeIntervalSince1970: 0)
    private var readAt: Duration = .zero

    /// Sets the clock to the time that the database has returned.
    mutating func set(_ seconds: Double, at now: Duration) {
        (date, readAt) = (Date(timeIntervalSince1970: seconds), now)
    }

    /// Returns the database's time.
    func date(at now: Duration) -> Date {
        let elapsed = (now - readAt).components
        return date.addingTimeInterval(Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18)
    }
}
