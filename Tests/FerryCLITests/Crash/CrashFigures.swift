import Foundation

/// The results of trials, for `docs/reliability.md`.
struct CrashFigures: Sendable {
    /// Kills of a variant, and their cost where it could be counted.
    struct Variant: Sendable, Codable {
        /// The number of kills.
        var kills = 0
        var fetchedTwice = Losses()
    }

    /// The kills whose repeated bytes could be counted: those with an unchanged file.
    struct Losses: Sendable, Codable {
        var kills = 0
        var meanBytes: Int64 = 0
        var maxBytes: Int64 = 0

        mutating func add(_ bytes: Int64) { add(Losses(kills: 1, meanBytes: bytes, maxBytes: bytes)) }

        mutating func add(_ other: Losses) {
            let sum = meanBytes * Int64(kills) + other.meanBytes * Int64(other.kills)
            kills += other.kills
            meanBytes = kills > 0 ? sum / Int64(kills) : 0
            maxBytes = max(maxBytes, other.maxBytes)
        }
    }

    private(set) var kills = 0
    var downloads = 0
    var bytesServed: Int64 = 0
    /// Bytes that the server had sent and that are fetched again, per kill.
    private(set) var fetchedTwice = Losses()
    /// The part of these bytes that had been read from the sockets.
    private(set) var beforeSockets = Losses()
    private(set) var variants: [String: Variant] = [:]
    private let variant: String

    init(_ variant: CrashTrial.Variant? = nil) { self.variant = variant?.rawValue ?? "" }

    mutating func addKill() {
        kills += 1
        variants[variant, default: Variant()].kills += 1
    }

    mutating func add(lost: Int64, beforeSockets: Int64) {
        fetchedTwice.add(lost)
        self.beforeSockets.add(beforeSockets)
        variants[variant, default: Variant()].fetchedTwice.add(lost)
    }

    mutating func add(_ other: CrashFigures) {
        kills += other.kills
        downloads += other.downloads
        bytesServed += other.bytesServed
        fetchedTwice.add(other.fetchedTwice)
        beforeSockets.add(other.beforeSockets)
        for (name, found) in other.variants {
            variants[name, default: Variant()].kills += found.kills
            variants[name, default: Variant()].fetchedTwice.add(found.fetchedTwice)
        }
    }
}

/// The figures of a whole run as JSON.
struct CrashReport: Codable {
    var summary: String
    var kills: Int
    var downloads: Int
    var firstSeed: UInt64
    var lastSeed: UInt64
    var seconds: Double
    var bytesServed: Int64
    var fetchedTwicePerKill: CrashFigures.Losses
    /// Without the bytes in sockets at the time of the kill.
    var fetchedTwicePerKillBeforeSockets: CrashFigures.Losses
    var variants: [String: CrashFigures.Variant]

    init(_ figures: CrashFigures, seeds: ClosedRange<UInt64>, seconds: Double) {
        let (mean, most) = (figures.fetchedTwice.meanBytes, figures.fetchedTwice.maxBytes)
        summary = String(
            format:
                "%d kills of %d downloads, seeds %llu to %llu: %.1f MB fetched twice per kill, at most %.1f MB, %.0f s",
            figures.kills, figures.downloads, seeds.lowerBound, seeds.upperBound, Double(mean) / 1e6,
            Double(most) / 1e6, seconds)
        kills = figures.kills
        downloads = figures.downloads
        (firstSeed, lastSeed) = (seeds.lowerBound, seeds.upperBound)
        self.seconds = (seconds * 10).rounded() / 10
        bytesServed = figures.bytesServed
        fetchedTwicePerKill = figures.fetchedTwice
        fetchedTwicePerKillBeforeSockets = figures.beforeSockets
        variants = figures.variants
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(filePath: path))
    }
}
