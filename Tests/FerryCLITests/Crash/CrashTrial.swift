import FerryTesting

/// One download that is killed repeatedly, determined by its seed.
struct CrashTrial: Sendable {
    enum Variant: String, Sendable, CaseIterable, Codable {
        case single = "1 connection"
        case eight = "8 connections"
        case unsynced = "--no-fsync"
        case tls = "TLS"
        case changing = "the file changes"
        /// The ETag is weak, and stays the same.
        case lying = "the file changes behind one weak ETag"
        /// The file has no validator.
        case nameless = "the file changes, no validator"
        /// The file is published from memory.
        case small = "a small file"
    }

    static let killsEach = 8

    let seed: UInt64
    let variant: Variant
    let size: Int64

    init(seed: UInt64) {
        self.seed = seed
        let count = UInt64(Variant.allCases.count)
        variant = Variant.allCases[Int(seed % count)]
        // The first trial of each variant, which every test run includes, has the least.
        var random = SeededGenerator(seed: seed)
        let doublings = seed <= count ? 0 : [0, 0, 0, 0, 1, 1, 2, 3].randomElement(using: &random) ?? 0
        size = variant == .small ? 900_000 : 64 << (20 + Int64(doublings))
    }

    var arguments: [String] {
        switch variant {
        case .single: ["-x", "1"]
        case .eight: ["-x", "8"]
        case .unsynced: ["-x", "4", "--no-fsync"]
        case .tls: ["-x", "2"]
        case .changing: ["-x", "4"]
        case .lying, .small: []
        case .nameless: ["--resume-unproven"]
        }
    }

    /// Bytes a second of the whole server.
    var rate: Int64 {
        switch variant {
        case .unsynced: 8 << 20
        case .small: 1 << 20
        default: 24 << 20
        }
    }

    /// Random ends of a run come within two seconds, so that half of the runs reach a checkpoint.
    var span: Int64 { 2 * rate }

    /// The most received bytes that may be lost, beside those in sockets. The average goes into the figures: elapsed
    /// time on a busy machine is no promise.
    let bound: Int64 = 64 << 20

    var changes: Bool { [.changing, .lying, .nameless].contains(variant) }

    /// Whether a resume fetches samples of the partial content.
    var samples: Bool { [.lying, .nameless].contains(variant) }

    var configuration: OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.serverRate = rate
        if variant == .tls { configuration.certificate = .good }
        configuration.sendBuffer = 65_536
        return configuration
    }

    /// The first version of the file.
    var resource: Resource {
        switch variant {
        case .lying: Resource(size: size, seed: seed, etag: "W/\"same\"")
        case .nameless: Resource(size: size, seed: seed, etag: nil, lastModified: nil)
        default: Resource(size: size, seed: seed)
        }
    }
}
