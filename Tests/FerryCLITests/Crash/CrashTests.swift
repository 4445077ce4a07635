import FerryTesting
import Foundation
import Testing

/// `make test-crash` runs a thousand kills; every `make test` the first of each variant.
///
/// `FERRY_CRASH_KILLS` is their number; `FERRY_CRASH_SEED` runs the trial of one seed alone; `FERRY_CRASH_REPORT` names
/// a file for the figures, as JSON (``CrashReport``).
@Suite("The binary: kill -9", .timeLimit(.minutes(CrashSettings.isLong ? 180 : 30)))
struct CrashTests {
    /// The number of concurrent trials, which mostly wait for the server's rate.
    private static let lanes = 4

    @Test("ferry get: killed at any moment, the name is absent or whole, and claimed bytes are right (B1)")
    func loop() async throws {
        let clock = ContinuousClock()
        let (start, seeds) = (clock.now, CrashSettings.seeds)
        print("kill -9: seeds \(seeds.lowerBound) to \(seeds.upperBound)")
        var all = CrashFigures()
        try await withThrowingTaskGroup(of: CrashFigures.self) { group in
            for seed in seeds {
                if seed - seeds.lowerBound >= UInt64(Self.lanes), let figures = try await group.next() {
                    all.add(figures)
                }
                group.addTask {
                    let figures = try await CrashLoop.run(CrashTrial(seed: seed))
                    if CrashSettings.isLong {
                        print("kill -9: seed \(seed): \(figures.kills) kills, \(figures.downloads) downloads")
                    }
                    return figures
                }
            }
            for try await figures in group { all.add(figures) }
        }
        let report = CrashReport(all, seeds: seeds, seconds: (clock.now - start) / .seconds(1))
        print("kill -9: \(report.summary)")
        if let path = CrashSettings.report { try report.write(to: path) }
        // Nearly every run is killed before its end.
        #expect(all.kills >= seeds.count * (CrashTrial.killsEach - 1), "\(report.summary)")
    }
}
