import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("What each listener is told", .timeLimit(.minutes(30)))
struct EventHubTests {
    private func end(_ number: Int64) -> DownloadEvent {
        DownloadEvent(id: DownloadID(rawValue: "\(number)"), date: Date(), kind: .cancelled, number: number)
    }

    /// The numbers that come until the hub closes; 0 where all that ended earlier has been told.
    private func numbers(_ mailbox: EventMailbox) async -> [Int64] {
        var numbers: [Int64] = []
        while let item = await mailbox.next() {
            switch item {
            case .event(let event): numbers.append(event.number ?? -1)
            case .upToDate: numbers.append(0)
            case .progress: break
            }
        }
        return numbers
    }

    @Test("is each end once, when it was written down, read, and sent only then")
    func sentLate() async {
        let hub = EventHub()
        let earlier = [end(3), end(5)]
        let place = hub.listen { earlier }
        guard case .event(let first) = await place.mailbox.next() else {
            Issue.record("nothing was told")
            return
        }
        #expect(first.number == 3)
        // It was in what was read, and comes to those who listened before.
        hub.send(end(5))
        // This was written down before it, and read by nobody.
        hub.send(end(4))
        hub.send(end(6))
        hub.close()
        #expect(await numbers(place.mailbox) == [5, 0, 4, 6])
    }

    @Test("is what came while the earlier ends were read, after them, and none twice")
    func sentMeanwhile() async {
        let hub = EventHub()
        let door = Door()
        let earlier = [end(1), end(2)]
        let place = hub.listen {
            await door.pass()
            return earlier
        }
        hub.send(end(2))
        hub.send(end(3))
        // It closes behind all of that.
        place.close()
        door.open()
        #expect(await numbers(place.mailbox) == [1, 2, 0, 3])
        #expect(!hub.isHeard)
    }
}
