import FerryCore
import FerryEngine
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Catalogue of downloads", .timeLimit(.minutes(30)))
struct CatalogueTests {
    @Test("Catalogue: rows, index and history are the same after reopening")
    func reopening() async throws {
        try await StoreBench.withDirectory { directory in
            let rows = try StoreBench.states.enumerated().map { number, state in
                var row = try StoreBench.fullRow("\(number)", downloads: directory + "/files", state: state)
                row.key.position = Int64(number)
                return row
            }
            let event = DownloadEvent(id: "0", date: StoreBench.date(0), kind: .note("x"))
            let first = try await StoreBench.open(directory)
            #expect(first.isNew && first.damaged == nil && first.note == nil)
            try await first.catalogue.commit([.insert(rows), .record(event), .complete])
            let entries = try await first.catalogue.load()
            await first.catalogue.close()

            let second = try await StoreBench.open(directory)
            #expect(!second.isNew)
            #expect(try await second.catalogue.page(.all, offset: 0, limit: 100) == rows)
            #expect(try await second.catalogue.load() == entries)
            #expect(try await second.catalogue.history(of: "0") == [event])
            await second.catalogue.close()
        }
    }

    @Test("Catalogue: batches submitted before close are written")
    func submittedBeforeClosing() async throws {
        try await StoreBench.withDirectory { directory in
            let first = try await StoreBench.open(directory).catalogue
            first.submit([.insert([try StoreBench.row("a")])])
            await first.close()
            let second = try await StoreBench.open(directory).catalogue
            #expect(try await second.list() == ["a"])
            await second.close()
        }
    }

    @Test("Catalogue: a submitted batch is written without a further call")
    func submittedAlone() async throws {
        try await StoreBench.withDirectory { directory in
            let catalogue = try await StoreBench.open(directory).catalogue
            catalogue.submit([.insert([try StoreBench.row("a")])])
            // No read and no commit, which would speed it up: only the backlog is read.
            while catalogue.waitingBatches > 0 { await Task.yield() }
            await catalogue.close()
        }
    }

    @Test("Catalogue: event numbers are not reused after acknowledgement and reopening")
    func numbersGoOn() async throws {
        try await StoreBench.withDirectory { directory in
            let ending = Ending(.cancelled, at: StoreBench.date(1))
            let first = try await StoreBench.open(directory).catalogue
            let one = try await first.commit([.insert([StoreBench.row("a")]), .end("a", ending)])
            try await first.acknowledge(try #require(one.first).number)
            await first.close()
            let second = try await StoreBench.open(directory).catalogue
            #expect(try await second.pendingEvents(after: 0, limit: 9).isEmpty)
            let two = try await second.commit([.end("a", ending)])
            #expect(try #require(two.first).number > #require(one.first).number)
            await second.close()
        }
    }

    @Test("Catalogue: a download to a stream is refused")
    func stream() async throws {
        try await StoreBench.run(.catalogue) { bench in
            let row = try StoreBench.row("a", request: StoreBench.request(to: .stream(1)))
            let error = await #expect(throws: DownloadError.self) { try await bench.store.commit([.insert([row])]) }
            #expect(error?.code == .invalidRequest)
            #expect(try await bench.store.list() == [])
        }
    }

    @Test(
        "Catalogue: hostile texts are stored as they are except NUL, and negative numbers as zero",
        arguments: ["'; DROP TABLE download; --", "a\u{0}b", "\u{202e}"])
    func hostileTexts(text: String) async throws {
        try await StoreBench.run(.catalogue) { bench in
            var row = try StoreBench.row("a", session: text)
            row.name = text
            row.label = text
            row.userInfo = [text: text]
            row.completedBytes = -5
            row.totalBytes = -1
            row.attempts = -1
            row.createdAt = .distantFuture
            row.retryAt = Date(timeIntervalSince1970: .nan)
            try await bench.store.commit([.insert([row])])
            let found = try #require(try await bench.store.row("a"))
            #expect(found.name == text.replacing("\0", with: "\u{fffd}"))
            #expect(found.userInfo == [text: text])
            #expect(found.completedBytes == 0 && found.totalBytes == 0 && found.attempts == 0)
            for id in ["", "a\u{0}b"] {
                row.id = DownloadID(rawValue: id)
                let error = await #expect(throws: DownloadError.self) { try await bench.store.commit([.insert([row])]) }
                #expect(error?.code == .invalidRequest)
            }
            #expect(try await bench.store.count(.all) == 1)
        }
    }

    @Test("Catalogue: the schema refuses invalid values")
    func constraints() async throws {
        try await StoreBench.run(.catalogue) { bench in
            try await bench.store.commit([.insert([StoreBench.row("a"), StoreBench.row("b")])])
            let database = try #require(bench.store as? Catalogue).database
            for sql in [
                "UPDATE download SET state = 'sleeping'", "UPDATE download SET completed = -1",
                "UPDATE download SET total = -1", "UPDATE download SET request = '{'",
                "UPDATE download SET id = 'a' WHERE id = 'b'", "UPDATE download SET id = ''",
                "UPDATE download SET position = 'x'", "UPDATE download SET priority = NULL",
                "UPDATE download SET metered = 2", "UPDATE download SET attempts = -1",
                "UPDATE download SET place = ''",
                "INSERT INTO history (download, time, kind) VALUES ('absent', 0, '{}')",
                "INSERT INTO event (download, session, time, kind) VALUES ('a', '', 0, 'x')",
            ] {
                #expect(throws: DatabaseError.self, "\(sql)") { try database.sync { db in try db.execute(sql) } }
            }
        }
    }

    @Test("Catalogue: an unreadable row is reported, and the others are returned")
    func unreadableEntry() async throws {
        try await StoreBench.run(.catalogue) { bench in
            let rows = try [StoreBench.row("a", 0, 1), StoreBench.row("b", 0, 2), StoreBench.row("c", 0, 3)]
            try await bench.store.commit([.insert(rows)])
            let database = try #require(bench.store as? Catalogue).database
            try database.sync { db in try db.execute("UPDATE download SET request = '{}' WHERE id = 'b'") }
            #expect(try await bench.store.list() == ["a", "c"])
            #expect(try await bench.store.rows(["b", "c"]) == [rows[2]])
            #expect(try await bench.store.load().count == 3)
            #expect(bench.complaints.errors.map(\.code) == [.catalogue, .catalogue])
            let error = await #expect(throws: DownloadError.self) { try await bench.store.row("b") }
            #expect(error?.code == .catalogue)
        }
    }

    @Test("Catalogue: every committed change is in a copy of its files taken without a close (B1)")
    func crash() async throws {
        try await StoreBench.withDirectory { directory in
            let catalogue = try await StoreBench.open(directory).catalogue
            try await catalogue.commit([.insert([StoreBench.row("a")]), .complete])
            try await catalogue.commit([
                .update("a", [.label("x")]), .end("a", Ending(.cancelled, at: StoreBench.date(3))),
            ])
            // The files as a kill leaves them: the database and its log, without a checkpoint.
            let copy = directory + "/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: directory + "/state", toPath: copy + "/state")
            await catalogue.close()
            #expect(FileManager.default.fileExists(atPath: copy + "/state/catalogue.sqlite-wal"))

            let opening = try await StoreBench.open(copy)
            #expect(!opening.isNew)
            #expect(try await opening.catalogue.row("a")?.label == "x")
            #expect(try await opening.catalogue.row("a")?.state == .cancelled)
            #expect(try await opening.catalogue.pendingEvents(after: 0, limit: 9).count == 1)
            await opening.catalogue.close()
        }
    }

    @Test("Catalogue: a full disk is reported, batches keep their order, and are written when there is room (B3)")
    func diskFull() async throws {
        try await StoreBench.run(.catalogue) { bench in
            let store = bench.store
            let database = try #require(store as? Catalogue).database
            try await store.commit([.insert([StoreBench.row("a")])])
            let pages = try database.sync { db in
                let pages: Int = try db.first("PRAGMA page_count") { row in try row[0] } ?? 0
                try db.execute("PRAGMA max_page_count = \(pages)")
                return pages
            }
            // A submitted batch is kept for later, and a commit behind it fails.
            let large = String(repeating: "x", count: 100_000)
            store.submit([.update("a", [.label(large)])])
            #expect(try await store.row("a")?.label == nil)
            // Each retry reports the error; their number depends on the time that this takes.
            #expect(Set(bench.complaints.errors.map(\.code)) == [.diskFull])
            await #expect(throws: DownloadError.self) { try await store.commit([.update("a", [.label("late")])]) }
            #expect(try await store.row("a")?.label == nil)

            try database.sync { db in try db.execute("PRAGMA max_page_count = \(pages + 100_000)") }
            #expect(try await store.row("a")?.label == large)
            try await store.commit([.update("a", [.label("late")])])
            #expect(try await store.row("a")?.label == "late")
        }
    }

    @Test(
        "Catalogue: reads see changes that a full disk has refused, and a commit names the full disk until there is room",
        .enabled(if: SmallDisk.isPossible, "no right to mount a disk"))
    func refusedChanges() async throws {
        try await StoreBench.withDirectory { directory in
            try await SmallDisk.with(directory + "/state") { disk in
                let store = try await StoreBench.open(directory).catalogue
                try await store.commit([.insert([StoreBench.row("a"), StoreBench.row("b")]), .complete])
                try disk.fill()
                #expect(await commit([.update("b", [.label(text(10_000))])], store) == .diskFull)

                store.submit([.end("a", Ending(.cancelled, at: StoreBench.date(1)))])
                #expect(try await store.row("a")?.state == .cancelled)
                #expect(try await store.count(RowFilter(kinds: [.cancelled])) == 1)
                #expect(try await store.totals().counts == [.cancelled: 1, .waitingForSlot: 1])
                // Its event has no durable number yet.
                #expect(try await store.pendingEvents(after: 0, limit: 9).isEmpty)
                store.submit([.update("b", [.label("later")])])
                #expect(try await store.row("b")?.label == "later")
                let late = await #expect(throws: DownloadError.self) { try await store.commit([.remove(["a"])]) }
                #expect(late?.code == .diskFull)
                #expect(late?.underlying?.contains("the disk is full") == true, "\(late?.underlying ?? "")")
                #expect(try await store.row("a")?.state == .cancelled)

                try disk.makeRoom()
                try await store.commit([.update("b", [.attempts(2, retryAt: nil)])])
                #expect(try await store.row("b")?.label == "later")
                #expect(try await store.pendingEvents(after: 0, limit: 9).count == 1)
                await store.close()
                let again = try await StoreBench.open(directory).catalogue
                #expect(try await again.row("a")?.state == .cancelled)
                #expect(try await again.row("b")?.label == "later")
                await again.close()
            }
        }
    }

    @Test("Catalogue: a batch without room fails alone, and others of its group are written")
    func noRoomForOne() async throws {
        try await StoreBench.run(.catalogue) { bench in
            let store = bench.store
            let catalogue = try #require(store as? Catalogue)
            try await store.commit([.insert([StoreBench.row("a")])])
            let large = try StoreBench.row("large", request: StoreBench.request("https://example.com/" + text(60_000)))
            // All three wait while the connection is busy, so that they are written as one group.
            let gate = DispatchSemaphore(value: 0)
            catalogue.database.async(.write) { db in
                let pages: Int? = try? db.first("PRAGMA page_count") { row in try row[0] }
                try? db.execute("PRAGMA max_page_count = \(pages ?? 1)")
                gate.wait()
            }
            async let first = commit([.update("a", [.label("x")])], store)
            async let second = commit([.insert([large])], store)
            async let third = commit([.update("a", [.attempts(2, retryAt: nil)])], store)
            while catalogue.waitingBatches < 3 { await Task.yield() }
            gate.signal()
            #expect(await (first, second, third) == (nil, .diskFull, nil))
            let row = try #require(try await store.row("a"))
            #expect(row.label == "x" && row.attempts == 2)
            #expect(try await store.count(.all) == 1)
        }
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private func commit(_ changes: [StoreChange], _ store: any DownloadStore) async -> DownloadError.Code? {
        do throws(DownloadError) {
            try await store.commit(changes)
            return nil
        } catch { return error.code }
    }
}
