import FerryServer
import FerryTesting
import Foundation
import Testing

#if os(Linux)
    /// `make soak` runs it for ten minutes; `make test` for the required rounds.
    ///
    /// `FERRY_SOAK_SECONDS` is the duration; `FERRY_SOAK_SEED` chooses the downloads; `FERRY_SOAK_REPORT` names a file
    /// for the figures, a table in Markdown (``SoakFigures``); `FERRY` another program than the one that was built with
    /// the tests.
    @Suite("The binary: soak", .timeLimit(.minutes(SoakSettings.minutes)))
    struct SoakTests {
        @Test(
            "Daemon: hostile servers of downloads and sets, a gateway in use, clients that come and go, kills and a full disk lose nothing and leak nothing"
        )
        func soak() async throws {
            let (start, seconds) = (ContinuousClock.now, SoakSettings.seconds ?? 0)
            let seed = SoakSettings.seed
            try await OriginServer.with { server in
                let confinement = Landlock.version > 0 ? ["--confine"] : []
                var run = try await SoakRun(server, in: Workplace(), arguments: confinement, seed: seed)
                try await run.turbulent(until: start + .seconds(seconds / 3))
                try await run.calm(until: start + .seconds(seconds))
                try await run.stop()
                let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
                let table = run.figures.table(
                    seconds: (ContinuousClock.now - start) / .seconds(1), program: try BuiltProgram.url("ferry"),
                    load: load.split(separator: " ").prefix(2).joined(separator: ", ")
                        + " on \(ProcessInfo.processInfo.processorCount) processors")
                print("soak: seed \(seed)\n\(table)")
                if let report = SoakSettings.report {
                    try table.write(toFile: report, atomically: true, encoding: .utf8)
                }
                let usage = try #require(run.figures.usage)
                #expect(usage.last.descriptors <= usage.warm.descriptors)
                #expect(usage.last.children <= usage.warm.children)
                #expect(usage.last.threads <= usage.warm.threads + SoakUsage.threadBand)
                #expect(usage.last.memory <= usage.warm.memory + SoakUsage.band)
                let disk = try #require(run.figures.disk)
                #expect(disk.last <= disk.warm + SoakUsage.diskBand)
            }
        }
    }
#endif
