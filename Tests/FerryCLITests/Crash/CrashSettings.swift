import Foundation

/// The environment's settings of the kill loop.
enum CrashSettings {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["FERRY_CRASH_KILLS"].flatMap { Int($0) }
    private static let seed = environment["FERRY_CRASH_SEED"].flatMap { UInt64($0) }

    static let isLong = kills != nil || seed != nil
    /// The file for the figures.
    static let report = environment["FERRY_CRASH_REPORT"]

    /// One trial for each.
    static var seeds: ClosedRange<UInt64> {
        if let seed { return seed...seed }
        guard let kills, kills > 0 else { return 1...UInt64(CrashTrial.Variant.allCases.count) }
        return 1...UInt64((kills + CrashTrial.killsEach - 1) / CrashTrial.killsEach)
    }
}
