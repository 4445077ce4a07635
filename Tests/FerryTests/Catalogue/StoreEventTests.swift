import FerryCore
import FerryEngine
import Foundation
import Testing

@testable import Ferry

@Suite("Events of any store", .timeLimit(.minutes(30)))
struct StoreEventTests {
    @Test("Store: the end of a run changes the row and adds its event in one commit", arguments: StoreKind.allCases)
    func ending(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let path = bench.directory + "/files/sub/b.bin"
            let file = PublishedFile(
                path: path, device: 1, inode: 2, length: 9, modified: FileTime(seconds: 0, nanoseconds: 4))
            let endings: [Ending] = [
                Ending(.completed(StoreBench.finished(path), file), at: StoreBench.date(7)),
                Ending(.completed(StoreBench.finished("", 0), nil), at: StoreBench.date(8)),
                Ending(.failed(StoreBench.error), at: StoreBench.date(9)),
                // A date finer than seconds since 1970 can hold.
                Ending(.cancelled, at: Date(timeIntervalSinceReferenceDate: 800_000_000.0000001)),
            ]
            for (number, ending) in endings.enumerated() {
                var row = try StoreBench.fullRow("\(number)", downloads: bench.directory, state: .downloading)
                let id = row.id
                let events = try await bench.store.commit([.insert([row]), .end(id, ending)])
                row.end(ending)
                #expect(try await bench.store.row(id) == row)
                let event = DownloadEvent(id: id, date: ending.date, kind: ending.event)
                #expect(events.map(\.event) == [event])
                #expect(events.map(\.session) == ["com.example.app"])
                #expect(try await bench.store.history(of: id) == [event])
                #expect(try await bench.store.pendingEvents(after: 0, limit: 9).last == events.last)
            }
            let first = try #require(try await bench.store.row("0"))
            #expect(first.state == .completed(.strong) && first.path == path && first.name == "b.bin")
            #expect(first.announced == nil && first.part == nil && first.attempts == 0 && first.retryAt == nil)
            let failed = try #require(try await bench.store.row("2"))
            #expect(failed.part != nil && failed.attempts == 4)
        }
    }

    @Test("Store: events are numbered in order and kept until they are acknowledged", arguments: StoreKind.allCases)
    func numbers(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            try await store.commit([.insert(try ["a", "b", "c"].map { try StoreBench.row($0) })])
            let ending = Ending(.cancelled, at: StoreBench.date(1))
            let given = try await store.commit([.end("b", ending), .end("absent", ending), .end("a", ending)])
            store.submit([.end("c", ending)])
            let pending = try await store.pendingEvents(after: 0, limit: 100)
            #expect(pending.map(\.event.id) == ["b", "a", "c"])
            #expect(Array(pending.prefix(2)) == given)
            #expect(pending.map(\.number) == pending.map(\.number).sorted())
            #expect(Set(pending.map(\.number)).count == 3)
            #expect(try await store.pendingEvents(after: pending[0].number, limit: 1) == [pending[1]])
            try await store.acknowledge(pending[1].number)
            try await store.acknowledge(pending[1].number)
            try await store.acknowledge(.max)
            #expect(try await store.pendingEvents(after: 0, limit: 9) == [pending[0], pending[2]])
            try await store.commit([.remove(["a", "b", "c"])])
            #expect(try await store.pendingEvents(after: 0, limit: 9) == [pending[0], pending[2]])
        }
    }

    @Test(
        "Store: after a move an unacknowledged event has the file's new path, and the history the old one",
        arguments: StoreKind.allCases)
    func moved(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            let paths = ["/files/sub/old", "/files/earlier", "/elsewhere/“new”"].map { bench.directory + $0 }
            let files = paths.map { StoreBench.finished($0) }
            func ending(_ file: FinishedDownload) -> Ending { Ending(.completed(file, nil), at: StoreBench.date(1)) }
            // One download had another file before, and the other has its file at the same path.
            try await store.commit([
                .insert(try ["a", "b"].map { try StoreBench.row($0) }), .end("a", ending(files[1])),
                .end("b", ending(files[0])), .end("a", ending(files[0])),
            ])
            try await store.commit([.update("a", [.file(files[2], nil)])])
            let told = try await store.pendingEvents(after: 0, limit: 9).map(\.event.kind)
            #expect(told == [.completed(files[1]), .completed(files[0]), .completed(files[2])])
            // The history is not rewritten.
            #expect(try await store.history(of: "a").last?.kind == .completed(files[0]))
        }
    }

    @Test("Store: an unnumbered event is in the history alone", arguments: StoreKind.allCases)
    func unnumbered(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            try await bench.store.commit([.insert([StoreBench.row("a")])])
            let ending = Ending(.cancelled, at: StoreBench.date(1), isNumbered: false)
            #expect(try await bench.store.commit([.end("a", ending)]).isEmpty)
            #expect(try await bench.store.pendingEvents(after: 0, limit: 9).isEmpty)
            #expect(try await bench.store.history(of: "a").map(\.kind) == [.cancelled])
        }
    }

    @Test(
        "Store: reasons of events are kept for every language, and free texts as they are",
        arguments: StoreKind.allCases)
    func reasons(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            let told = LocalizedEvent.retrying(attempt: 1, delay: .seconds(1), reason: Reason(.serverAnswered, "503"))
            let events = [
                DownloadEvent(id: "a", date: StoreBench.date(1), told),
                DownloadEvent(id: "a", date: StoreBench.date(2), kind: .note("samples matched")),
            ]
            try await store.commit([.insert([StoreBench.row("a")]), .record(events[0]), .record(events[1])])
            let kept = try await store.history(of: "a")
            #expect(kept == events)
            #expect(kept.first?.reason?.text(in: .simplifiedChinese) == "服务器返回了 503")
            #expect(kept.last?.reason == nil)
        }
    }

    @Test("Store: the newest fifty events of each download are kept", arguments: StoreKind.allCases)
    func history(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let store = bench.store
            try await store.commit([.insert(try ["a", "b"].map { try StoreBench.row($0) })])
            let kinds: [DownloadEvent.Kind] = [
                .added(url: "https://example.com/?…"), .started(name: "x", totalBytes: 5),
                .started(name: "x", totalBytes: nil), .resumed(offset: 1, totalBytes: 2, reason: "same ETag"),
                .retrying(attempt: 2, delay: .milliseconds(1500), reason: "reset"), .restarted(reason: "changed"),
                .waiting(.network, message: "offline"), .note("n"), .paused, .failed(StoreBench.error), .cancelled,
                .completed(StoreBench.finished(bench.directory + "/files/y")),
            ]
            let events = (0..<120).map {
                DownloadEvent(id: "a", date: StoreBench.date(Double($0)), kind: kinds[$0 % kinds.count])
            }
            let other = DownloadEvent(id: "b", date: StoreBench.date(0), kind: .paused)
            try await store.commit([.record(other)])
            for event in events { store.submit([.record(event)]) }
            store.submit([.record(DownloadEvent(id: "absent", date: StoreBench.date(0), kind: .paused))])
            #expect(try await store.history(of: "a") == Array(events.suffix(50)))
            #expect(try await store.history(of: "b") == [other])
            #expect(try await store.history(of: "absent").isEmpty)
            try await store.commit([.remove(["a"]), .insert([StoreBench.row("a")])])
            #expect(try await store.history(of: "a").isEmpty)
        }
    }
}
