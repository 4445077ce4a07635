import Ferry
import FerryTerminal
import Foundation
import Testing

@Suite("Progress of all files") struct WholeProgressTests {
    @Test("WholeProgress: fraction and time left use bytes when all sizes are known, else the files")
    func whole() {
        var whole = WholeProgress(fileCount: 4, finishedCount: 1, completedBytes: 50)
        #expect(whole.fraction == 0.25)
        #expect(whole.timeRemaining == nil)
        whole.totalBytes = 100
        whole.bytesPerSecond = 10
        #expect(whole.fraction == 0.5)
        #expect(whole.timeRemaining == .seconds(5))
        #expect(whole.label == "1 of 4 files")
        whole.failedCount = 2
        #expect(whole.label == "1 of 4 files, 2 failed")
        #expect(WholeProgress().fraction == nil)
        // Before the last size is known, running files count by their fractions.
        var early = WholeProgress(fileCount: 4, finishedCount: 1)
        early.openFraction = 1.5
        #expect(early.fraction == 0.625)
    }

    @Test("Ledger: sums of the largest sizes saturate")
    func overflow() {
        var ledger = Ledger()
        ledger.countFinished(FinishedDownload(path: "", totalBytes: .max, proof: .none, receivedBytes: .max))
        ledger.countFinished(FinishedDownload(path: "", totalBytes: .max, proof: .none, receivedBytes: -5))
        #expect(ledger.finishedBytes == .max)
        #expect(ledger.receivedBytes == .max)
    }

    @Test("Ledger: an event without a handle has no entry, and the exit code is the gravest so far")
    func order() {
        var ledger = Ledger()
        ledger.expectedCount = 1
        let event = DownloadEvent(id: DownloadID(rawValue: "a"), date: .distantPast, kind: .paused)
        #expect(ledger.entry(for: event) == nil)
        #expect(!ledger.isDone)
        let ends = [ledger.endSubmission(), ledger.endSubmission()]
        #expect(ends == [true, false])
        #expect(ledger.isDone)
        ledger.note(.usage)
        #expect(ledger.exitCode == .usage)
        ledger.countFailed(DownloadError(.network, ErrorPhrase(.slowBody)))
        #expect(ledger.exitCode == .network)
        ledger.interruption = .terminated
        #expect(ledger.exitCode == .terminated)
    }

    @Test("Ledger: the bytes of a failed file were received, but belong to no finished one")
    func failedBytes() {
        var ledger = Ledger()
        ledger.countFinished(
            FinishedDownload(path: "/a", totalBytes: 10, proof: .single, receivedBytes: 7))
        ledger.countFailed(DownloadError(.checksum, ErrorPhrase(.slowBody)), receivedBytes: 5)
        #expect(ledger.receivedBytes == 12 && ledger.finishedBytes == 10)
    }

    @Test("ExitCode: where files may fail, the code still tells of disks, signals and defects")
    func allowed() {
        let left = ExitCode.allCases.filter { $0.allowingFailures != .done }
        #expect(left == [.internal, .disk, .daemon, .interrupted, .terminated])
        #expect(left.allSatisfy { $0.allowingFailures == $0 })
        var ledger = Ledger()
        ledger.countFailed(DownloadError(.network, ErrorPhrase(.slowBody)))
        ledger.countUnusable()
        #expect(ledger.exitCodeAllowingFailures == .done)
        // A list that cannot be read to its end, of which no result tells.
        ledger.note(.usage)
        #expect(ledger.exitCodeAllowingFailures == .usage)
        ledger.countFailed(DownloadError(.diskFull, "full"))
        #expect(ledger.exitCodeAllowingFailures == .disk)
        ledger.interruption = .interrupted
        #expect(ledger.exitCodeAllowingFailures == .interrupted)
    }

    @Test("Ledger: an entry that cannot be used counts as one that failed, in a run that goes on too")
    func unusable() {
        var ledger = Ledger()
        ledger.expectedCount = 2
        ledger.countFinished(FinishedDownload(path: "/f", totalBytes: 1, proof: .single))
        ledger.countUnusable()
        _ = ledger.endSubmission()
        #expect(ledger.whole([]).label == "1 of 2 files, 1 failed")
        #expect(ledger.failureText == "invalidRequest: 1" && ledger.exitCode == .usage)
        var cursor = BatchCursor()
        cursor.end(ListPlace.Key(list: 0, line: 1), .unusable)
        cursor.end(ListPlace.Key(list: 0, line: 2), .completed)
        // Of arguments, which each run counts itself.
        cursor.end(nil, .unusable)
        #expect(cursor.counts.failed == 0 && cursor.counts.unusable == 1)
        ledger.goOn(cursor.counts)
        #expect(ledger.whole([]).failedCount == 2)
    }

    @Test("Ledger: failures are counted by status or word, the most frequent first")
    func reasons() {
        var ledger = Ledger()
        for status in ["404", "503", "404"] {
            ledger.countFailed(DownloadError(.refused, ErrorPhrase(.serverAnswered, status)))
        }
        for _ in 0..<3 { ledger.countFailed(DownloadError(.network, ErrorPhrase(.stalled, "5s"))) }
        ledger.countFailed(DownloadError(.disk, "full"))
        #expect(ledger.failureText == "timeout: 3, 404: 2, 503: 1, disk: 1")
    }
}
