import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Row of a running download", .timeLimit(.minutes(30)))
struct RunningRowTests {
    /// After a kill the list showed `0 B / ?` until the download had a slot again: the running state was never stored,
    /// so that its journal was not read.
    @Test("Catalogue: the row of a running download has that state and its part file (B1)")
    func running() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.stall(after: 10_000_000)])
            var configuration = DownloadManager.Configuration.default(
                identifier: "running", directory: shop.directory,
                stateDirectory: shop.directory + "/state")
            configuration.minFreeBytes = 0
            // Too long to be reached on a busy machine.
            configuration.stallTimeout = .seconds(9000)
            let manager = DownloadManager(configuration)
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(10_000_000, download)
            let row = try await #require(manager.scheduler).opened().row(download.id)
            #expect(row?.state == .downloading)
            #expect(row?.part == shop.directory + "/a.part")
            await manager.shutdown()
        }
    }
}
