import FerryCore
import FerryTesting
import Testing

@testable import Ferry

@Suite("Queue of a list", .timeLimit(.minutes(30)))
struct DownloadQueueTests {
    @Test("Queue: what was found out on a network is forgotten once for each other network that is online")
    func moved() {
        let queue = DownloadQueue(
            .ephemeral, isOpen: true, registry: LiveRegistry(),
            clock: ManualClock())
        let online = NetworkStatus(isOnline: true)
        let seen: [(generation: Int, status: NetworkStatus)] = [
            (0, online), (1, .offline), (2, online), (2, online), (2, .offline), (3, online),
        ]
        var (forgotten, told): ([Int], [Int]) = ([], [])
        for (generation, status) in seen {
            let change = queue.see(NetworkSnapshot(status: status, generation: generation)) {
                forgotten.append(generation)
            }
            if change.moved != nil { told.append(generation) }
        }
        #expect(forgotten == [2, 3])
        #expect(told == forgotten)
    }
}
