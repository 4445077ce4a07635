/// Spans of time as JSON lines hold them.
package enum Seconds {
    /// A duration in seconds, to the millisecond.
    package static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        return (seconds * 1000).rounded() / 1000
    }
}
