import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryEngine

@Suite("Log of updates", .timeLimit(.minutes(30)))
struct UpdateLogTests {
    private let registry = LiveRegistry()

    /// Registers an object that its caller alone keeps in memory.
    private func live(_ id: DownloadID) throws -> LiveDownload {
        let live = LiveDownload(try StoreBench.row(id.rawValue), secrets: nil, registry: registry)
        registry.insert(live)
        return live
    }

    private static func ids(_ range: Range<Int>) -> [DownloadID] { range.map { DownloadID(rawValue: "\($0)") } }

    @Test("UpdateLog: a download that is released after its update stays in memory until a listener of events is done")
    func held() async throws {
        let log = UpdateLog(of: registry)
        let updates = log.updates()
        for (id, change) in [
            (DownloadID(rawValue: "a"), ListChange(added: ["a"])), ("c", ListChange(changed: ["c"])),
            ("m", ListChange(moved: ["m"])),
        ] {
            let one = try live(id)
            log.append(change)
            withExtendedLifetime(one) {}
        }
        #expect(registry.count == 3)
        var all = updates.makeAsyncIterator()
        let told = await all.next()
        #expect(Set(told?.held.map(\.id) ?? []) == ["a", "c", "m"])
        #expect(registry["c"] != nil)
        withExtendedLifetime(told) {}
    }

    @Test("UpdateLog: a download that has left the list again is released once the listener has been told")
    func released() async throws {
        let log = UpdateLog(of: registry)
        let updates = log.updates()
        do {
            let one = try live("a")
            log.append(ListChange(changed: ["a"]))
            registry.remove(one.id)
            log.append(ListChange(removed: ["a": "s"]))
        }
        var all = updates.makeAsyncIterator()
        do { #expect(await all.next()?.change.removed == ["a"]) }
        log.append(ListChange(changed: ["b"]))
        #expect(await all.next()?.held.isEmpty == true)
        #expect(registry.count == 0)
    }

    @Test("UpdateLog: listeners without events keep no download in memory")
    func withoutEvents() throws {
        let log = UpdateLog(of: registry)
        let changes = log.changes()
        do {
            let one = try live("a")
            log.append(ListChange(changed: [one.id]))
        }
        #expect(registry.count == 0)
        withExtendedLifetime(changes) {}
    }

    @Test("UpdateLog: of many updates that wait a bounded number of downloads stays in memory, and of a large one none")
    func bounded() throws {
        let most = ListMailbox.maxHeld
        let log = UpdateLog(of: registry)
        let updates = log.updates()
        do {
            let all = try Self.ids(0..<most + 1).map(live)
            log.append(ListChange(changed: Set(all.map(\.id))))
        }
        #expect(registry.count == 0)
        for id in Self.ids(0..<3 * most) {
            let one = try live(id)
            log.append(ListChange(changed: [id]))
            withExtendedLifetime(one) {}
        }
        #expect(registry.count == most)
        withExtendedLifetime(updates) {}
    }

    @Test("Events: what is told has the date that is stored, of an end also the date of the row")
    func dates() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b"], size: 50_000)
            let manager = shop.kept()
            let events = manager.events
            async let told = shop.told(events)
            let first = try await manager.download(shop.single("/a") { $0.startsPaused = true })
            let second = try await manager.download(shop.single("/b") { $0.startsPaused = true })
            try await first.resume()
            _ = try await first.finished()
            try await second.resume()
            _ = try await second.finished()
            try await second.restart()
            _ = try await second.finished()
            let third = try await manager.download(shop.single("/c") { $0.startsPaused = true })
            try await third.cancel()
            let fourth = try await manager.download(
                shop.single("/d") { $0.notBefore = Date(timeIntervalSinceNow: 1e6) })
            try await fourth.pause()
            var stored: [DownloadID: [DownloadEvent]] = [:]
            var ends: [DownloadID: Date?] = [:]
            for id in [first.id, second.id, third.id, fourth.id] {
                stored[id] = try await manager.history(of: id)
                ends[id] = try await manager.rows([id]).first?.endedAt
            }
            await manager.shutdown()
            var heard: [DownloadID: [DownloadEvent]] = [:]
            for event in await told {
                if case .added = event.kind { continue }
                heard[event.id, default: []].append(event)
            }
            for (id, events) in stored {
                #expect(!events.isEmpty)
                #expect(heard[id]?.map(\.kind) == events.map(\.kind))
                #expect(heard[id]?.map(\.date) == events.map(\.date))
                #expect(ends[id] == (events.last?.kind.isEnd == true ? events.last?.date : Date?.none))
            }
        }
    }
}
