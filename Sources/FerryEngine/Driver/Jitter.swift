import Synchronization

/// Random numbers for back-off and the choice of samples, without a system call for each: SplitMix64, seeded from the
/// system. Not for secrets.
final class Jitter: Sendable {
    private let state = Atomic(UInt64.random(in: 0...UInt64.max))

    /// Returns the next number in 0..<1.
    @Sendable func next() -> Double {
        var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ (bits >> 31)) >> 11) * 0x1p-53
    }
}
