import FerryTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import Ferry

/// New credentials stop a download and start it again; in between it is out of the queue, where the vault holds it.
@Suite("Download out of the queue during a change", .timeLimit(.minutes(30)))
struct StandingAsideTests {
    private let someone = Credentials(user: "ann", password: "hush")

    private func secret(_ shop: Workshop, _ path: String) throws -> DownloadRequest {
        let name = try #require(HTTPField.Name("X-Key"))
        return try shop.single(path) { $0.headers[name] = "secret" }
    }

    @Test("Provide credentials: a download moved during the call returns to its new position")
    func moved() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/b", "/c"])
            shop.serve(["/a"], [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download([
                try shop.single("/a"), try shop.single("/b"), try secret(shop, "/c"),
            ])
            await gate.arrived()
            let vault = HeldVault.hold(.read, in: try #require(manager.scheduler))
            let providing = Task { try await all[2].provide(credentials: someone) }
            await vault.arrived()
            try await all[2].moveInList(to: .before(all[1].id))
            vault.open()
            try await providing.value
            gate.open()
            try await shop.expectAll(all, are: resource)
            #expect(shop.asked == ["/a", "/c", "/b"])
            await manager.shutdown()
        }
    }

    @Test("Finish and shut down: it waits for a download that is given credentials")
    func finishing() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"])
            shop.server.script("/a", [.hold(after: 1_000_000, gate)])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let download = try await manager.download(try secret(shop, "/a"))
            await shop.reach(1_000_000, download)
            let vault = HeldVault.hold(.read, in: scheduler)
            let providing = Task { try await download.provide(credentials: someone) }
            await vault.arrived()
            let finishing = Task { await manager.finishAndShutDown() }
            try await eventually { scheduler.queue.isDraining }
            vault.open()
            try await providing.value
            gate.open()
            await finishing.value
            #expect(download.status.state.isFinal)
            shop.expect(shop.path("a"), is: resource)
        }
    }
}
