import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Event hub", .timeLimit(.minutes(30)))
struct EventHubTests {
    private func end(_ number: Int64) -> DownloadEvent {
        DownloadEvent(id: DownloadID(rawValue: "\(number)"), date: Date(), kind: .cancelled, number: number)
    }

    /// The event numbers until the hub closes; 0 stands for `upToDate`.
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

    @Test("EventHub: an end both read from the store and sent later is delivered once")
    func sentLate() async {
        let hub = EventHub()
        let earlier = [end(3), end(5)]
        let place = hub.listen { earlier }
        guard case .event(let first) = await place.mailbox.next() else {
            Issue.record("nothing was told")
            return
        }
        #expect(first.number == 3)
        // Already read: for earlier listeners only.
        hub.send(end(5))
        // Stored earlier, and not read.
        hub.send(end(4))
        hub.send(end(6))
        hub.close()
        #expect(await numbers(place.mailbox) == [5, 0, 4, 6])
    }

    @Test("EventHub: events sent while earlier ends are read come after them, and none twice")
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
        // The hub closes after all of these.
        place.close()
        door.open()
        #expect(await numbers(place.mailbox) == [1, 2, 0, 3])
        #expect(!hub.isHeard)
    }
}
