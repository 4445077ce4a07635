/// Times and spans as seconds, for arithmetic that cannot overflow.
enum MonotonicTime {
    /// Seconds, held to what a Double counts in microseconds.
    static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return min(1e9, max(-1e9, Double(parts.seconds) + Double(parts.attoseconds) * 1e-18))
    }
}
