/// Durations in JSON output.
package enum Seconds {
    /// Returns the duration in seconds, rounded to milliseconds.
    package static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        return (seconds * 1000).rounded() / 1000
    }
}
