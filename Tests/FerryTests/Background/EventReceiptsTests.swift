import Foundation
import Testing

@testable import Ferry
@testable import FerryClient

@Suite("Receipts of numbered events")
struct EventReceiptsTests {
    private func event(_ number: Int64?) -> DownloadEvent {
        DownloadEvent(
            id: DownloadID(rawValue: "a"), date: Date(timeIntervalSince1970: 0), kind: .cancelled, number: number)
    }

    @Test("EventReceipts: each numbered event is new once, in whatever order it arrives")
    func once() {
        var receipts = EventReceipts()
        #expect([2, 1, 2, 3, 1].map { receipts.isNew(event($0)) } == [true, true, false, true, false])
        #expect(receipts.backlog.compactMap(\.number) == [1, 2, 3])
        let plain = [receipts.isNew(event(nil)), receipts.isNew(event(nil))]
        #expect(plain == [true, true])
    }

    @Test("EventReceipts: a handled event is kept until it is delivered, and is never new again")
    func handled() {
        var receipts = EventReceipts()
        for number in 1...3 { _ = receipts.isNew(event(Int64(number))) }
        let handled = [receipts.handle(2), receipts.handle(2), receipts.handle(9)]
        #expect(handled == [true, false, false])
        #expect(receipts.backlog.compactMap(\.number) == [1, 3])
        #expect(receipts.handled == [2])
        receipts.delivered([2])
        #expect(receipts.handled == [])
        // A new connection, before the daemon has stored the acknowledgement.
        let isNew = receipts.isNew(event(2))
        #expect(!isNew)
    }

    @Test("EventReceipts: after 30,000 handled events an unhandled and the newest handled ones are still known")
    func bounded() {
        var receipts = EventReceipts()
        _ = receipts.isNew(event(1))
        for number in Int64(2)...30_000 {
            _ = receipts.isNew(event(number))
            _ = receipts.handle(number)
            receipts.delivered([number])
        }
        let known = [receipts.isNew(event(1)), receipts.isNew(event(30_000)), receipts.isNew(event(25_000))]
        #expect(known == [false, false, false])
    }
}
