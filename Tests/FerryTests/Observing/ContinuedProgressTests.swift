import FerryCore
import Foundation
import Testing

@testable import FerryUI

@Suite("Progress of continued downloads")
struct ContinuedProgressTests {
    private func status(_ state: DownloadState, _ bytes: ByteCount, of total: ByteCount?) -> DownloadStatus {
        DownloadStatus(
            id: "a", state: state, progress: DownloadProgress(completedBytes: bytes, totalBytes: total), name: "a")
    }

    @Test("ContinuedProgress: the bytes of what goes on by itself count together, an unknown size is never reached")
    func sums() {
        let date = Date(timeIntervalSince1970: 0)
        let progress = ContinuedProgress([
            status(.downloading, 10, of: 100), status(.verifying, 50, of: 50), status(.waiting(.slot), 0, of: nil),
            status(.waiting(.retry(at: date)), 7, of: nil), status(.paused, 1000, of: 2000),
            status(.completed(.single), 3000, of: 3000), status(.waiting(.network), 5, of: 9),
        ])
        #expect(progress.isBusy)
        #expect(progress.completed == 67)
        #expect(progress.total == 159)
    }

    @Test("ContinuedProgress: nothing goes on when all have ended, are paused, or wait for more than their turn")
    func over() {
        let date = Date(timeIntervalSince1970: 0)
        let states: [DownloadState] = [
            .paused, .cancelled, .completed(.single), .waiting(.network), .waiting(.diskSpace), .waiting(.freshLink),
            .waiting(.credentials), .waiting(.notBefore(date)),
        ]
        #expect(!ContinuedProgress(states.map { status($0, 5, of: 9) }).isBusy)
        #expect(!ContinuedProgress([DownloadStatus]()).isBusy)
    }
}
