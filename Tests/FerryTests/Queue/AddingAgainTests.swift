import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

/// In each the other call is held up in the download's turn. One new download comes along with the listed one: that it
/// was added says that the listed one was found by then.
@Suite("Adding what is listed while something else is done with it", .timeLimit(.minutes(30)))
struct AddingAgainTests {
    private static let new = DownloadID(rawValue: "new")

    private func whenListed(_ events: AsyncStream<DownloadEvent>) async {
        for await event in events where event.id == Self.new { break }
    }

    @Test("does not wait for its own turn: its priority is changed meanwhile, and both return")
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

    @Test("gives a new one where the listed one is being removed")
    func removed() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let same = try shop.single("/a")
            let other = try shop.single("/b") { $0.id = Self.new }
            let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            let events = manager.events
            // It is cancelled by then, and listed.
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
