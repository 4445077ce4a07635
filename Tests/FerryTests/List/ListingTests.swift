import FerryServer
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryEngine

@Suite("List of downloads", .timeLimit(.minutes(30)))
struct ListingTests {
    @Test("List: ended downloads stay with state and order until they are removed, after a relaunch too")
    func stays() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/done", "/fail", "/gone"])
            shop.server.always("/fail", .status(503))
            var manager = shop.kept(engine: shop.engine()) { $0.maxRetries = 1 }
            var all = try await manager.download(
                ["/done", "/fail", "/gone"].map { path in try shop.single(path) { $0.startsPaused = true } })
            try await all[0].resume()
            try await shop.expectAll([all[0]], are: resource)
            try await all[1].resume()
            #expect(await shop.code { _ = try await all[1].finished() } == .refused)
            try await all[2].cancel()
            let order = try await manager.downloads().map(\.id)
            let states = all.map(\.status.state)
            #expect(states.map(\.kind) == [.completed, .failed, .cancelled])
            await manager.shutdown()

            manager = shop.kept()
            let listed = try await manager.downloads()
            #expect(listed.map(\.id) == order)
            var found: [Download] = []
            for one in all { found.append(try #require(try await manager.download(id: one.id))) }
            all = found
            #expect(all.map(\.status.state) == states)
            #expect(try await all[0].finished().path == shop.path("done"))
            #expect(await shop.code { _ = try await all[1].finished() } == .refused)
            #expect(await shop.code { _ = try await all[2].finished() } == .cancelled)
            await manager.shutdown()
        }
    }

    /// What a row says of a download in the list.
    private func expect(
        _ listed: ListedDownload?, shows row: CatalogueRow?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let listed = try #require(listed, sourceLocation: sourceLocation)
        let row = try #require(row, sourceLocation: sourceLocation)
        #expect(listed.session == row.session, sourceLocation: sourceLocation)
        #expect(listed.url == row.request.sources.first?.text, sourceLocation: sourceLocation)
        #expect(listed.handle?.request == row.request(with: nil), sourceLocation: sourceLocation)
        #expect(listed.handle?.finished == row.finished, sourceLocation: sourceLocation)
        #expect(listed.directory == row.directory, sourceLocation: sourceLocation)
        #expect(listed.position == Int(row.key.position), sourceLocation: sourceLocation)
        #expect(listed.priority.rawValue == row.key.priority, sourceLocation: sourceLocation)
        #expect(listed.label == row.label && listed.userInfo == row.userInfo, sourceLocation: sourceLocation)
        #expect(listed.rateLimit == row.request.rateLimit, sourceLocation: sourceLocation)
        #expect(listed.network == row.request.network, sourceLocation: sourceLocation)
        #expect(listed.addedAt == row.createdAt, sourceLocation: sourceLocation)
        #expect(listed.endedAt == row.endedAt, sourceLocation: sourceLocation)
        #expect(listed.status.state.kind == row.status.state.kind, sourceLocation: sourceLocation)
        #expect(listed.status.name == row.name && listed.status.path == row.path, sourceLocation: sourceLocation)
    }

    @Test("List: a download in memory is listed as its row has it after each change, and its row is not read")
    func inMemory() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"], size: 50_000)
            let manager = shop.kept()
            let store = try await #require(manager.scheduler).held { _ in false }
            let download = try await manager.download(
                shop.single("/a") {
                    $0.startsPaused = true
                    $0.label = "one"
                    $0.sources = $0.sources.map { $0.with(Credentials(user: "u", password: "secret")) }
                })
            let other = try await manager.download(shop.single("/other") { $0.startsPaused = true })
            func check(sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let before = store.rowReads
                let listed = try await manager.listed([download.id], hasHandle: true)
                #expect(store.rowReads == before, sourceLocation: sourceLocation)
                let row = try await store.row(download.id)
                try expect(listed.first, shows: row, sourceLocation: sourceLocation)
            }
            try await check()
            try await download.change {
                $0.label = "two"
                $0.userInfo = ["a": "1"]
                $0.rateLimit = 1 << 40
                $0.network = NetworkRule(allowsMetered: true, allowsConstrained: nil)
            }
            try await check()
            try await download.change { $0.priority = .high }
            try await check()
            try await other.change { $0.priority = .high }
            try await download.moveInList(to: .last)
            try await check()
            try await download.resume()
            _ = try await download.finished()
            try await check()
            try await download.moveFiles(to: shop.path("elsewhere"))
            try await check()
            // Its credentials were forgotten at its end.
            try await download.restart()
            await shop.reach(download) { $0 == .waiting(.credentials) }
            try await check()
            await manager.shutdown()
        }
    }

    @Test("List: a place or a priority that the list refuses to store is not shown")
    func refusedPlace() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let requests = try ["/a", "/b"].map { path in try shop.single(path) { $0.startsPaused = true } }
            let all = try await manager.download(requests)
            let before = try await manager.listed([all[1].id])
            try await shop.refuse("BEFORE UPDATE OF position ON download", in: manager)
            #expect(await shop.code { try await all[1].moveInList(to: .first) } == .catalogue)
            #expect(await shop.code { try await all[1].change { $0.priority = .high } } == .catalogue)
            let after = try await manager.listed([all[1].id])
            #expect(after.map(\.position) == before.map(\.position))
            #expect(after.map(\.priority) == before.map(\.priority))
            await manager.shutdown()
        }
    }

    @Test("List: of a download without a handle the row is read, and one that is not listed is omitted")
    func fromRows() async throws {
        try await Workshop.run { shop in
            let first = shop.kept()
            let ids = try await first.download(
                ["/a", "/b"].map { path in try shop.single(path) { $0.startsPaused = true } }
            ).map(\.id)
            await first.shutdown()
            let manager = shop.kept()
            let store = try await #require(manager.scheduler).held { _ in false }
            let listed = try await manager.listed(ids.reversed() + ["absent"], hasHandle: true)
            #expect(listed.map(\.id) == ids.reversed() && store.rowReads == 1)
            for one in listed {
                let row = try await store.row(one.id)
                try expect(one, shows: row)
            }
            #expect(try await manager.sessions(of: ids + ["absent"]) == [ids[0]: "test", ids[1]: "test"])
            await manager.shutdown()
        }
    }

    @Test("List: a download that was removed is not listed, though it has a handle")
    func removed() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let download = try await manager.download(shop.single("/a") { $0.startsPaused = true })
            #expect(try await manager.listed([download.id]).map(\.id) == [download.id])
            try await download.remove()
            #expect(try await manager.listed([download.id]).isEmpty)
            #expect(try await manager.sessions(of: [download.id]).isEmpty)
            await manager.shutdown()
        }
    }

    @Test("List: pages are in list order, and offsets out of range give none")
    func pages() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let requests = try (0..<10).map { number in try shop.single("/\(number)") { $0.startsPaused = true } }
            let all = try await manager.download(requests)
            #expect(try await manager.downloads(offset: 0, limit: 4) == Array(all[0..<4]))
            #expect(try await manager.downloads(offset: 8, limit: 4) == Array(all[8...]))
            #expect(try await manager.downloads(offset: 20).isEmpty)
            #expect(try await manager.downloads(offset: -1, limit: -1).isEmpty)
            #expect(try await manager.downloadCount == 10)
            await manager.shutdown()
        }
    }

    @Test("List: read in batches, a row that is removed or moved between two of them hides no other")
    func batches() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let requests = try (0..<6).map { number in try shop.single("/\(number)") { $0.startsPaused = true } }
            let all = try await manager.download(requests)
            var seen: [DownloadID] = []
            try await manager.forEachBatch(of: .all, size: 2) { rows throws(DownloadError) in
                seen += rows.map(\.id)
                guard seen.count == 2 else { return }
                try await all[0].remove()
                try await all[3].moveInList(to: .first)
            }
            #expect(seen == all.map(\.id))
            await manager.shutdown()
        }
    }

    @Test("List: the history has the reasons of retries and restarts, after a relaunch too")
    func history() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            shop.server.script("/a", [.status(503), .stall(after: 1_000_000)])
            var manager = shop.kept(engine: shop.engine())
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            try await download.pause()
            let new = Resource(size: 3_000_000, seed: 5, lastModified: Date(timeIntervalSince1970: 1_720_000_000))
            shop.server.serve("/a", new)
            shop.server.always("/a", .honest)
            try await download.resume()
            try await shop.expectAll([download], are: new)
            await manager.shutdown()

            manager = shop.kept()
            let events = try await manager.history(of: download.id)
            #expect(events.allSatisfy { $0.id == download.id })
            #expect(events.map(\.date) == events.map(\.date).sorted())
            let kinds = events.map(\.kind)
            var retry: String?
            var restart: String?
            for kind in kinds {
                if case .retrying(_, _, let reason) = kind { retry = reason }
                if case .restarted(let reason) = kind { restart = reason }
            }
            #expect(retry?.contains("503") == true)
            #expect(restart?.contains("s1-3000000") == true, "\(restart ?? "never")")
            #expect(kinds.contains(.paused))
            #expect(kinds.last.map { if case .completed = $0 { true } else { false } } == true)
            #expect(try await manager.history(of: DownloadID(rawValue: "none")).isEmpty)
            await manager.shutdown()
        }
    }

    @Test("Storage report: it has finished, partial and orphaned bytes, and an adopted part file is completed")
    func storage() async throws {
        try await Workshop.run { shop in
            shop.serve(["/old"])
            try await shop.interrupt("/old", after: 1_000_000)
            let resource = shop.serve(["/a"])
            shop.serve(["/b"], [.stall(after: 2_000_000)])
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([first], are: resource)
            let second = try await manager.download(try shop.single("/b"))
            await shop.reach(2_000_000, second)
            try await second.pause()
            let report = try await manager.storage()
            #expect(report.finishedBytes == 3_000_000)
            #expect(report.partBytes == 2_000_000)
            #expect(report.orphanedParts == [shop.path("old.part")])
            #expect(report.orphanedBytes == 1_000_000)

            let adopted = try await manager.adopt(shop.path("old.part.ferry"))
            #expect(adopted.status.bytes >= 1_000_000)
            try await shop.expectAll([adopted], are: resource)
            #expect(shop.server.traffic.requests(for: "/old").last?.range == "bytes=1000000-2999999")
            let later = try await manager.storage()
            #expect(later.orphanedParts.isEmpty)
            #expect(later.orphanedBytes == 0)
            #expect(later.finishedBytes == 6_000_000)
            await manager.shutdown()
        }
    }

    @Test("Adopting: a part file is listed once, and a path without a journal is an error")
    func adopt() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/old"])
            try await shop.interrupt("/old", after: 1_000_000)
            let gate = Gate()
            shop.server.script("/old", [.hold(gate)])
            let manager = shop.kept()
            let first = try await manager.adopt(shop.path("old.part"))
            let again = try await manager.adopt(shop.path("old.part"))
            #expect(first == again)
            await gate.arrived()
            gate.open()
            try await shop.expectAll([first], are: resource)
            #expect(try await manager.downloadCount == 1)
            try shop.write("text", to: "text")
            try shop.write("no journal", to: "odd.part.ferry")
            for name in ["none", "text", "odd.part", "old"] {
                #expect(await shop.code { _ = try await manager.adopt(shop.path(name)) } != nil, "\(name)")
            }
            #expect(try await manager.downloadCount == 1)
            await manager.shutdown()
        }
    }
}
