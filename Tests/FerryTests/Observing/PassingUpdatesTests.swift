import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient
@testable import FerryEngine

@Suite("Answers and what is told meanwhile", .timeLimit(.minutes(30)))
struct PassingUpdatesTests {
    private func listed(_ state: DownloadState, asOf position: UInt64) -> ListedDownload {
        let status = DownloadStatus(id: "x", state: state, progress: DownloadProgress(), name: "x")
        var listed = ListedDownload(
            status: status, session: "s", url: "http://a/x", addedAt: Date(timeIntervalSince1970: 0))
        listed.asOf = position
        return listed
    }

    @Test("PassingUpdates: an answer gives way to what was told later while it was on its way, and to nothing else")
    func passing() {
        var updates = PassingUpdates()
        updates.note(listed(.completed(.single), asOf: 9))
        let answer = listed(.downloading, asOf: 5)
        // Nobody was waiting for an answer.
        #expect(updates.newest(answer).said == answer)
        updates.callBegan()
        updates.note(listed(.completed(.single), asOf: 9))
        #expect(updates.newest(answer).said.status.state == .completed(.single))
        #expect(updates.newest(listed(.paused, asOf: 10)).said.status.state == .paused)
        updates.note(removed: ["x"], asOf: 12)
        #expect(updates.newest(answer).isGone && !updates.newest(listed(.paused, asOf: 12)).isGone)
        updates.callBegan()
        updates.callEnded()
        #expect(updates.newest(answer).isGone)
        updates.callEnded()
        #expect(!updates.newest(answer).isGone)
    }

    @Test("PassingUpdates: an answer from before updates that were lost is doubtful")
    func lost() {
        var updates = PassingUpdates()
        updates.lost(before: 7)
        #expect(!updates.isDoubtful(listed(.paused, asOf: 3)))
        updates.callBegan()
        updates.lost(before: 7)
        #expect(updates.isDoubtful(listed(.paused, asOf: 6)) && !updates.isDoubtful(listed(.paused, asOf: 7)))
        updates.callEnded()
        #expect(!updates.isDoubtful(listed(.paused, asOf: 3)))
    }

    @Test("PassingUpdates: once the daemon's log has begun anew nothing told before counts, and answers are doubtful")
    func begunAnew() {
        var updates = PassingUpdates()
        updates.beginAnew()
        #expect(!updates.isDoubtful(listed(.paused, asOf: 3)))
        updates.callBegan()
        updates.note(listed(.paused, asOf: 900))
        updates.beginAnew()
        let answer = listed(.downloading, asOf: 3)
        #expect(updates.newest(answer).said == answer && updates.isDoubtful(answer))
        updates.callEnded()
        #expect(!updates.isDoubtful(answer))
    }

    @Test("UpdateLog: with events, one that came and went while nobody listened is told as removed")
    func cameAndWent() async {
        let log = UpdateLog()
        let (updates, changes) = (log.updates(), log.changes())
        log.append(ListChange(added: ["x", "y"]))
        log.append(ListChange(removed: ["x": "s"]))
        var all = updates.makeAsyncIterator()
        let told = await all.next()
        #expect(told?.change.removed == ["x"] && told?.change.removedFrom == ["x": "s"] && told?.position == 3)
        var list = changes.makeAsyncIterator()
        let change = await list.next()
        #expect(change?.added == ["y"] && change?.removed == [])
    }

    @Test("List: a download that ended during a read is returned as it is now, and its end can be awaited")
    func ended() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 1000))
            let manager = shop.lasting { $0.maxConcurrentDownloads = 8 }
            for index in 0..<150 {
                let id = DownloadID(rawValue: "\(index)")
                let request = try shop.request("/a") {
                    $0.id = id
                    $0.onDuplicate = .addAnother
                    $0.syncsToDisk = false
                }
                // The handle is released at once, and requested again while the download ends.
                _ = try await manager.download(request)
                let again = try await manager.download(id: id)
                _ = try await manager.downloads(offset: max(0, index - 3))
                #expect(try await again?.finished().totalBytes == 1000)
            }
            await manager.shutdown()
        }
    }
}
