import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

/// In each test the other call is blocked while it has the download's lock. A new download is added with the listed
/// one: its event shows that the listed one was found by then.
@Suite("Adding a listed request during another call", .timeLimit(.minutes(30)))
struct AddingAgainTests {
    private static let new = DownloadID(rawValue: "new")

    private func whenListed(_ events: AsyncStream<DownloadEvent>) async {
        for await event in events where event.id == Self.new { break }
    }

    @Test("Adding: a listed request is found while its priority is changed, and both calls return")
    func priorityChanged() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let name = try #require(HTTPField.Name("X-Key"))
            let same = try shop.single("/a") {
                $0.headers[name] = "secret"
                $0.startsPaused = true
            }
            let other = try shop.single("/b") { $0.id = Self.new }
            let download = try await manager.download(same)
            let events = manager.events
            let vault = HeldVault.hold(.read, in: scheduler)
            let changing = Task { try await download.change { $0.priority = .high } }
            await vault.arrived()
            let adding = Task { try await manager.download([same, other]) }
            await whenListed(events)
            vault.open()
            try await changing.value
            let both = try await adding.value
            #expect(both[0] == download)
            #expect(download.request.priority == .high)
            #expect(download.status.state == .paused)
            try await shop.expectAll([both[1]], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Adding: a listed request that is being removed is added as a new download")
    func removed() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let same = try shop.single("/a")
            let other = try shop.single("/b") { $0.id = Self.new }
            let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            let events = manager.events
            // The download is cancelled by then, and still listed.
            let vault = HeldVault.hold(.remove, in: scheduler)
            let removing = Task { try await download.remove() }
            await vault.arrived()
            let adding = Task { try await manager.download([same, other]) }
            await whenListed(events)
            vault.open()
            try await removing.value
            let both = try await adding.value
            #expect(both[0] != download)
            #expect(try await Set(manager.downloads()) == Set(both))
            try await shop.expectAll(both, are: resource)
            await manager.shutdown()
        }
    }
}
