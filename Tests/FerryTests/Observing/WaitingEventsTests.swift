import Foundation
import Testing

@testable import Ferry

@Suite("Events that wait for a listener", .timeLimit(.minutes(30)))
struct WaitingEventsTests {
    private func event(_ number: Int, _ kind: DownloadEvent.Kind) -> DownloadEvent {
        DownloadEvent(id: DownloadID(rawValue: "d\(number)"), date: Date(timeIntervalSince1970: 0), kind: kind)
    }

    @Test("Mailbox: without a reader it keeps a bounded number of events and every end")
    func bounded() {
        var waiting = WaitingEvents()
        for number in 0..<(10 * WaitingEvents.most) {
            waiting.append(.event(event(number, number.isMultiple(of: 100) ? .cancelled : .note("again"))))
        }
        let items = waiting.take()
        #expect(items.count <= WaitingEvents.most + 1)
        let ends = items.compactMap { item -> String? in
            if case .event(let event) = item, event.kind.isEnd { event.id.rawValue } else { nil }
        }
        #expect(ends == stride(from: 0, to: 10 * WaitingEvents.most, by: 100).map { "d\($0)" })
        #expect(waiting.isEmpty)
    }

    @Test("Hub: a listener with unread earlier events keeps a bounded number, with the ends in order")
    func held() async {
        let hub = EventHub()
        let place = hub.listen { await withUnsafeContinuation { (_: UnsafeContinuation<[DownloadEvent]?, Never>) in } }
        for number in 0..<(3 * WaitingEvents.most) { hub.send(event(number, .note("again"))) }
        hub.send(event(-1, .cancelled))
        hub.close()
        var count = 0
        var last: DownloadEvent?
        while let event = await place.mailbox.nextEvent() { (count, last) = (count + 1, event) }
        #expect(count <= WaitingEvents.most + 1)
        #expect(last?.kind == .cancelled)
    }

    @Test("Catalogue: of refused batches a bounded number waits, dropping progress, then history, then the oldest")
    func backlog() {
        func batches(_ count: Int, _ make: (Int) -> StoreChange) -> [CatalogueBacklog.Batch] {
            (0..<count).map { CatalogueBacklog.Batch(changes: [make($0)], waiting: nil) }
        }
        let id = DownloadID(rawValue: "a")
        let progress = batches(5000) { .update(id, [.progress(completedBytes: Int64($0), totalBytes: nil)]) }
        let history = batches(5000) { .record(event($0, .note("again"))) }
        let states = batches(CatalogueBacklog.mostRefused + 10) { .update(id, [.name("\($0)", path: nil)]) }
        #expect(CatalogueBacklog.keeping(Array(progress[..<4096])).kept.count == 4096)
        #expect(CatalogueBacklog.keeping(progress).kept.isEmpty)
        #expect(CatalogueBacklog.keeping(progress).forgotten == 0)
        #expect(CatalogueBacklog.keeping(progress + Array(history[..<100])).kept.count == 100)
        #expect(CatalogueBacklog.keeping(progress + history).kept.isEmpty)
        let (kept, forgotten) = CatalogueBacklog.keeping(progress + history + states)
        #expect(kept.count == CatalogueBacklog.mostRefused)
        #expect(forgotten == 5010)
        #expect(kept.last?.changes == states.last?.changes)
    }
}
