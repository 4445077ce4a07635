package import Ferry

/// The steps of the rate limit for `+` and `-`. Pure.
package enum LimitSteps {
    /// In bytes per second, ascending. Beyond the last step there is no limit.
    static let steps: [ByteCount] = [
        100_000, 250_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000,
    ]

    /// Returns the next larger limit; `nil` for no limit.
    package static func faster(than limit: ByteCount?) -> ByteCount? {
        limit.flatMap { limit in steps.first { $0 > limit } }
    }

    /// Returns the next smaller limit; without a limit, the largest step below the current speed.
    package static func slower(than limit: ByteCount?, speed: Double) -> ByteCount {
        let bound = limit.map(Double.init) ?? (speed.isFinite && speed > 0 ? speed : .infinity)
        return steps.last { Double($0) < bound } ?? steps[0]
    }
}
