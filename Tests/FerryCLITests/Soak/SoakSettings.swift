import Foundation

/// The environment's settings of the soak.
enum SoakSettings {
    private static let environment = ProcessInfo.processInfo.environment

    static let seconds = environment["FERRY_SOAK_SECONDS"].flatMap { Int($0) }
    static let seed = environment["FERRY_SOAK_SEED"].flatMap { UInt64($0) } ?? 1
    /// The file for the figures.
    static let report = environment["FERRY_SOAK_REPORT"]
    /// The guard against a hang.
    static var minutes: Int { seconds.map { $0 / 60 + 60 } ?? 30 }
}
