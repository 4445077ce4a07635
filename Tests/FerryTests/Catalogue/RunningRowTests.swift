import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("The list, while a download runs", .timeLimit(.minutes(30)))
struct RunningRowTests {
    /// After a kill the list showed `0 B / ?` until the download had a slot again: it was never written down that it
    /// ran, so that nobody looked at its journal.
    @Test("B1: says that it runs, so that the next launch shows what its journal holds")
    func running() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            shop.server.script("/a", [.stall(after: 10_000_000)])
            var configuration = DownloadManager.Configuration.default(
                identifier: "running", directory: URL(filePath: shop.directory),
                stateDirectory: URL(filePath: shop.directory + "/state"))
            configuration.minFreeBytes = 0
            // Tests that want a stall say so; a busy machine is none.
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
