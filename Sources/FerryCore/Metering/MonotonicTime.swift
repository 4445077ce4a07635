/// Times and durations in seconds, for arithmetic that cannot overflow.
enum MonotonicTime {
    /// Seconds, clamped to the range in which a Double counts microseconds exactly.
    static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return min(1e9, max(-1e9, Double(parts.seconds) + Double(parts.attoseconds) * 1e-18))
    }
}
