package import Ferry

/// The limits that `+` and `-` go through. Pure.
package enum LimitSteps {
    /// Bytes per second, ascending; beyond the last there is no limit.
    static let steps: [ByteCount] = [
        100_000, 250_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000,
    ]

    /// The next larger one; `nil` for none.
    package static func faster(than limit: ByteCount?) -> ByteCount? {
        limit.flatMap { limit in steps.first { $0 > limit } }
    }

    /// The next smaller one; from no limit the largest that is below the speed now.
    package static func slower(than limit: ByteCount?, speed: Double) -> ByteCount {
        let bound = limit.map(Double.init) ?? (speed.isFinite && speed > 0 ? speed : .infinity)
        return steps.last { Double($0) < bound } ?? steps[0]
    }
}
