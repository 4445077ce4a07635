import FerryCore
import FerryEngine
import Foundation
import Testing

@testable import Ferry

@Suite("Changes of any store", .timeLimit(.minutes(30)))
struct StoreChangeTests {
    @Test("Store: an insertion adds all rows, or none when one is listed already", arguments: StoreKind.allCases)
    func insertion(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let (a, b, c) = (try StoreBench.row("a"), try StoreBench.row("b"), try StoreBench.row("c"))
            try await bench.store.commit([.insert([b])])
            for batch: [StoreChange] in [
                [.insert([a, b, c])], [.insert([a]), .insert([a])], [.update("b", [.label("x")]), .insert([c, b])],
                [.insert([a, c, a])],
            ] {
                let error = await #expect(throws: DownloadError.self) { try await bench.store.commit(batch) }
                #expect(error?.code == .duplicate)
                #expect(try await bench.store.page(.all, offset: 0, limit: 9) == [b])
            }
            try await bench.store.commit([.remove(["b"]), .insert([b, a]), .remove(["a"]), .insert([c])])
            #expect(try await bench.store.list() == ["b", "c"])
        }
    }

    @Test("Store: an update sets its fields and leaves the others", arguments: StoreKind.allCases)
    func fields(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let file = PublishedFile(
                path: bench.directory + "/x", device: 1, inode: 2, length: 3,
                modified: FileTime(seconds: 0, nanoseconds: 4))
            let moved = FinishedDownload(
                path: bench.directory + "/files/moved", totalBytes: 3, proof: .single, wasAlreadyComplete: false,
                redactedFinalURL: "https://example.com/")
            var request = try StoreBench.request("https://other.example/z", to: .file("/elsewhere/z"))
            request.network.allowsMetered = false
            let changes: [[RowField]] = [
                [.state(.downloading)], [.state(.waiting(.retry(at: StoreBench.date(9))))],
                [.waiting(.freshLink, after: StoreBench.error)],
                [.waiting(.slot, after: StoreBench.error), .state(.paused)],
                [.name("new", path: "/p/new")], [.name("newer", path: nil)],
                [.progress(completedBytes: 77, totalBytes: 88)], [.progress(completedBytes: 78, totalBytes: nil)],
                [.request(request, hasSecrets: true)], [.label("l")], [.label(nil)], [.userInfo(["k": "v"])],
                [.userInfo([:])],
                [.attempts(3, retryAt: StoreBench.date(4))], [.attempts(0, retryAt: nil)], [.part("/p/x.part")],
                [.part(nil)], [.announced(file)], [.announced(nil)], [.announced(file)], [.file(moved, file)], [],
                [.published(nil)], [.published(file)],
                [.label("one"), .state(.paused), .label("two"), .part("/q")],
            ]
            var row = try StoreBench.fullRow("a", downloads: bench.directory + "/files")
            try await bench.store.commit([.insert([row, StoreBench.row("other")])])
            for fields in changes {
                try await bench.store.commit([.update("a", fields), .update("absent", fields)])
                for field in fields { row.set(field) }
                #expect(try await bench.store.row("a") == row, "\(fields)")
            }
            #expect(try await bench.store.row("other") == StoreBench.row("other"))
            #expect(try await bench.store.load().first { $0.id == "a" }?.host == "other.example")
        }
    }

    @Test("Store: a download that runs again loses its end and keeps its published file", arguments: StoreKind.allCases)
    func continues(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let full = try StoreBench.fullRow("a", downloads: bench.directory, state: .completed(.strong))
            try await bench.store.commit([.insert([full]), .update("a", [.state(.waiting(.slot))])])
            let row = try #require(try await bench.store.row("a"))
            #expect(row.state == .waiting(.slot))
            #expect(row.endedAt == nil && row.finished == nil)
            #expect(row.published != nil && row.published == full.published)
            // An end without a file does not change that.
            try await bench.store.commit([.end("a", Ending(.cancelled, at: StoreBench.date(1)))])
            #expect(try await bench.store.row("a")?.published == full.published)
        }
    }

    @Test("Store: a batch of new keys moves many rows at once", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            try await bench.store.commit([.insert(try ["a", "b", "c"].map { try StoreBench.row($0) })])
            try await bench.store.commit([
                .keys([
                    .init("c", QueueKey(priority: 5, position: 0)), .init("a", QueueKey(priority: 0, position: 9)),
                    .init("absent", QueueKey(priority: 1, position: 1)),
                ])
            ])
            #expect(try await bench.store.list() == ["c", "b", "a"])
            #expect(try await bench.store.load().first?.key == QueueKey(priority: 5, position: 0))
        }
    }

    @Test("Store: a removal takes listed rows and ignores missing ones", arguments: StoreKind.allCases)
    func removal(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            try await bench.store.commit([.insert(try ["a", "b"].map { try StoreBench.row($0) })])
            try await bench.store.commit([.remove(["a", "absent"]), .remove([])])
            #expect(try await bench.store.list() == ["b"])
            try await bench.store.commit([.insert([StoreBench.row("a")])])
            #expect(try await bench.store.history(of: "a").isEmpty)
        }
    }

    @Test("Store: a read shows all batches submitted before, in their order", arguments: StoreKind.allCases)
    func submission(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            bench.store.submit([.insert([try StoreBench.row("a")])])
            for count in 1...200 { bench.store.submit([.update("a", [.attempts(count, retryAt: nil)])]) }
            #expect(try await bench.store.row("a")?.attempts == 200)
            bench.store.submit([.update("a", [.label("first")])])
            try await bench.store.commit([.update("a", [.label("second")])])
            #expect(try await bench.store.row("a")?.label == "second")
        }
    }

    @Test(
        "Store: an invalid submitted batch is dropped and reported, and its neighbours are applied",
        arguments: StoreKind.allCases)
    func badBatch(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let row = try StoreBench.row("a")
            bench.store.submit([.insert([row])])
            bench.store.submit([.update("a", [.label("lost")]), .insert([row])])
            bench.store.submit([.update("a", [.attempts(1, retryAt: nil)])])
            let found = try #require(try await bench.store.row("a"))
            #expect(found.label == nil && found.attempts == 1)
            #expect(bench.complaints.errors.map(\.code) == [.duplicate])
        }
    }

    @Test("Store: concurrent commits from many tasks add each row once", arguments: StoreKind.allCases)
    func concurrency(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            let rows = try (0..<200).map { try StoreBench.row("\($0 % 100)", 0, Int64($0)) }
            let refused = await withTaskGroup(of: Bool.self) { group in
                for row in rows {
                    group.addTask {
                        do throws(DownloadError) { try await store.commit([.insert([row])]) } catch {
                            return error.code == .duplicate
                        }
                        return false
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(refused == 100)
            #expect(try await store.count(.all) == 100)
        }
    }

    @Test("Store: a commit of a cancelled task is applied", arguments: StoreKind.allCases)
    func cancelledTask(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let row = try StoreBench.row("a")
            let store = bench.store
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { _ = try? await store.commit([.insert([row])]) }
            }
            #expect(try await store.row("a") == row)
        }
    }

    @Test("Store: after close every call throws shutDown", arguments: StoreKind.allCases)
    func closed(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            store.submit([.insert([try StoreBench.row("a")])])
            await store.close()
            await store.close()
            let calls: [() async throws -> Void] = [
                { try await store.commit([]) }, { _ = try await store.load() }, { _ = try await store.row("a") },
                { _ = try await store.count(.all) }, { try await store.acknowledge(1) },
            ]
            for call in calls {
                let error = await #expect(throws: DownloadError.self) { try await call() }
                #expect(error?.code == .shutDown)
            }
            store.submit([.remove(["a"])])
            #expect(bench.complaints.errors.map(\.code) == [.shutDown])
        }
    }
}
