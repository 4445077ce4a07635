import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Events of a manager", .timeLimit(.minutes(30)))
struct EventsTests {
    private static let resource = Resource(size: 50_000)

    /// The next `count` events that end a download.
    private func ends(_ count: Int, of events: AsyncStream<DownloadEvent>) async -> [DownloadEvent] {
        var ends: [DownloadEvent] = []
        for await event in events where event.kind.isEnd {
            ends.append(event)
            if ends.count == count { break }
        }
        return ends
    }

    private func fetch(_ names: [String], with manager: DownloadManager, _ shop: Workshop) async throws {
        for name in names {
            shop.server.serve("/" + name, Self.resource)
            _ = try await manager.download(shop.request("/" + name) { $0.id = DownloadID(rawValue: name) }).finished()
        }
    }

    @Test("Events: unacknowledged ends come first and in order after a relaunch, acknowledged ones never")
    func acknowledged() async throws {
        try await Workshop.run { shop in
            let first = shop.lasting()
            try await fetch(["a", "b", "c"], with: first, shop)
            let told = await ends(3, of: first.events)
            #expect(told.map(\.id.rawValue) == ["a", "b", "c"])
            let numbers = told.compactMap(\.number)
            #expect(numbers.count == 3 && numbers == numbers.sorted() && Set(numbers).count == 3)
            told[1].acknowledge()
            await first.shutdown()

            let second = shop.lasting()
            let events = second.events
            try await fetch(["d"], with: second, shop)
            let again = await ends(3, of: events)
            #expect(again.map(\.id.rawValue) == ["a", "c", "d"])
            #expect(Array(again.compactMap(\.number).prefix(2)) == [numbers[0], numbers[2]])
            #expect(again.map(\.kind)[..<2] == [told[0].kind, told[2].kind])
            for event in again { event.acknowledge() }
            await second.shutdown()

            let third = shop.lasting()
            let last = third.events
            try await fetch(["e"], with: third, shop)
            #expect(await ends(1, of: last).map(\.id.rawValue) == ["e"])
            await third.shutdown()
        }
    }

    @Test("Events: every listener gets all ends in one order, none twice")
    func listeners() async throws {
        try await Workshop.run { shop in
            let manager = shop.lasting()
            try await fetch(["a", "b"], with: manager, shop)
            let early = manager.events
            // Some downloads end while earlier ends are being read.
            async let more: Void = fetch(["c", "d"], with: manager, shop)
            let late = manager.events
            _ = try await more
            let (first, second) = (await ends(4, of: early), await ends(4, of: late))
            #expect(first.map(\.id.rawValue) == ["a", "b", "c", "d"])
            #expect(second == first)
            await manager.shutdown()
        }
    }

    @Test("Events: the sequence ends with the manager and does not keep it alive")
    func ending() async throws {
        try await Workshop.run { shop in
            var manager: DownloadManager? = shop.lasting()
            try await manager?.activate()
            let events = try #require(manager?.events)
            manager = nil
            for await _ in events {}
            // The release of the last reference was a shutdown: another manager can open the list.
            let next = shop.lasting()
            var isOpen = false
            while !isOpen {
                do throws(DownloadError) {
                    try await next.activate()
                    isOpen = true
                } catch { #expect(error.code == .catalogue) }
            }
            await next.shutdown()
            for await _ in next.events { Issue.record("an event of a manager that was shut down") }
        }
    }

    @Test("Events: without a catalogue ends have no number and are not reported again")
    func ephemeral() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager()
            let events = manager.events
            try await fetch(["a"], with: manager, shop)
            #expect(await ends(1, of: events).map(\.number) == [nil])
            let late = manager.events
            await manager.shutdown()
            for await event in late { Issue.record("told again: \(event)") }
        }
    }
}
