import FerryCore
import Testing

/// Suites that run the machine in a situation and inspect the outcome.
protocol ScenarioSuite {}

extension ScenarioSuite {
    /// Runs one download to its end in a world of these origins.
    ///
    /// - Parameter digest: The content that has the digest of the request; `nil` without one.
    func run(
        _ origins: ModelOrigin..., settings change: (inout TransferMachine.Settings) -> Void = { _ in },
        held: PartialContent? = nil, total: ByteCount? = nil, file: [Int: RangeSet<ByteCount>] = [:], seed: UInt64 = 7,
        step: Double = 0.05, digest: Int? = nil
    ) -> (World, World.Outcome) {
        var settings = TransferMachine.Settings()
        settings.sources = origins.count
        settings.rules.hasDigest = digest != nil
        change(&settings)
        var world = World(
            TransferMachine(settings: settings, held: held, total: total), origins, seed: seed, held: file)
        (world.step, world.digest) = (step, digest)
        let outcome = world.run(limit: 4000)
        #expect(world.violations == [])
        return (world, outcome)
    }

    /// 10 MB of a file of 40 MiB are held.
    func heldPart(_ tag: String? = "\"a1\"") -> (PartialContent, [Int: RangeSet<ByteCount>]) {
        let ranges = RangeSet<ByteCount>(0..<10_000_000)
        return (PartialContent(identity: FileIdentity(etag: tag, totalBytes: 40 << 20), ranges: ranges), [1: ranges])
    }

    func code(_ outcome: World.Outcome) -> DownloadError.Code? {
        if case .failed(let error) = outcome { error.code } else { nil }
    }

    func origin(_ change: (inout ModelOrigin) -> Void) -> ModelOrigin {
        var origin = ModelOrigin()
        change(&origin)
        return origin
    }
}
