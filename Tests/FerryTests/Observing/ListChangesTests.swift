import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Changes of the list", .timeLimit(.minutes(30)))
struct ListChangesTests {
    private static func change(
        added: Set<DownloadID> = [], removed: Set<DownloadID> = [], changed: Set<DownloadID> = [],
        reordered: Bool = false
    ) -> ListChange {
        ListChange(added: added, removed: removed, changed: changed, isReordered: reordered)
    }
    private static func moved(_ ids: Set<DownloadID>, _ change: ListChange) -> ListChange {
        var change = change
        change.moved = ids
        return change
    }
    private static let (x, y) = (DownloadID(rawValue: "x"), DownloadID(rawValue: "y"))

    static let merges: [(String, [ListChange], ListChange)] = [
        ("added and changed is added", [change(added: [x]), change(changed: [x])], change(added: [x])),
        ("added and removed is nothing", [change(added: [x]), change(removed: [x])], change()),
        ("changed and removed is removed", [change(changed: [x]), change(removed: [x])], change(removed: [x])),
        ("removed and changed is removed", [change(removed: [x]), change(changed: [x])], change(removed: [x])),
        (
            "removed and added is changed: it was there", [change(removed: [x]), change(added: [x])],
            moved([x], change(changed: [x], reordered: true))
        ),
        (
            "what concerns several stays apart",
            [change(added: [x]), change(changed: [y]), change(reordered: true)],
            change(added: [x], changed: [y], reordered: true)
        ),
        (
            "added, removed and added again is added",
            [change(added: [x]), change(removed: [x]), change(added: [x])], change(added: [x])
        ),
    ]

    @Test("ListChange: merged changes are one with the same effect", arguments: merges)
    func merging(_ name: String, _ changes: [ListChange], _ whole: ListChange) {
        var merged = ListChange()
        for change in changes { merged.merge(change) }
        #expect(merged == whole, "\(name)")
    }

    @Test("List changes: a change of labels is no change of the order, one of priorities is; removals name the session")
    func order() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager()
            let all = try await manager.download(
                (0..<3).map { number in try shop.request("/\(number)") { $0.startsPaused = true } })
            var changes = manager.listChanges.makeAsyncIterator()
            var change = RequestChange()
            change.set(.label, \.label, "new")
            _ = try await manager.perform(.change(change), on: all.map(\.id), session: nil)
            var heard = await changes.next()
            #expect(heard?.changed == Set(all.map(\.id)))
            #expect(heard?.isReordered == false && heard?.moved == [])
            change = RequestChange()
            change.set(.priority, \.priority, .high)
            _ = try await manager.perform(.change(change), on: [all[2].id], session: nil)
            heard = await changes.next()
            #expect(heard?.isReordered == true && heard?.moved == [all[2].id])
            try await all[1].remove()
            heard = await changes.next()
            while let more = heard, more.removed.isEmpty { heard = await changes.next() }
            #expect(heard?.removed == [all[1].id])
            #expect(heard?.removedFrom.keys.map(\.self) == [all[1].id])
            await manager.shutdown()
        }
    }

    @Test("List changes: a busy listener gets one for all that happened, and the sequence ends with the manager")
    func busy() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 50_000))
            let manager = shop.manager()
            var quick = manager.listChanges.makeAsyncIterator()
            var busy = manager.listChanges.makeAsyncIterator()
            let (a, b) = (
                try await manager.download(shop.request("/a") { $0.startsPaused = true }),
                try await manager.download(shop.request("/a") { $0.startsPaused = true })
            )
            var added: Set<DownloadID> = []
            while added.count < 2, let change = await quick.next() { added.formUnion(change.added) }
            #expect(added == [a.id, b.id])
            try await b.remove()
            try await a.resume()
            _ = try await a.finished()
            while let change = await quick.next() { if change.changed.contains(a.id) { break } }
            let change = await busy.next()
            #expect(change?.added == [a.id])
            #expect(change?.removed == [])
            #expect(change?.isReordered == true)
            await manager.shutdown()
            // A last pending change may come, then the end.
            var rest = 0
            while await busy.next() != nil { rest += 1 }
            #expect(rest <= 1)
            var late = manager.listChanges.makeAsyncIterator()
            #expect(await late.next() == nil)
        }
    }

    @Test("List changes: the sequence ends for a cancelled task and does not keep the manager alive")
    func cancelled() async throws {
        let manager = DownloadManager(.ephemeral)
        let changes = manager.listChanges
        // owner: this test.
        let task = Task { for await _ in changes {} }
        task.cancel()
        await task.value
        var released: DownloadManager? = DownloadManager(.ephemeral)
        weak let gone = released
        let other = released?.listChanges
        released = nil
        #expect(gone == nil)
        if let other { for await _ in other {} }
        await manager.shutdown()
    }
}
