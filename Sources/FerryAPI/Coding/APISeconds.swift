/// Durations in the API, in seconds.
package enum APISeconds {
    /// Returns the duration; `nil` for values that are negative, above 10^12, or not finite.
    package static func duration(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0, seconds <= 1e12 else { return nil }
        return .seconds(Int64(seconds))
            + .nanoseconds(Int64((seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()))
    }
}
