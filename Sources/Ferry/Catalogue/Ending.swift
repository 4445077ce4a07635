package import struct Foundation.Date

/// How a download ended.
package struct Ending: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// With the file as it was published; `nil` when there is none to recognize (a stream).
        case completed(FinishedDownload, FileStamp?)
        case failed(DownloadError)
        case cancelled
    }
    package var outcome: Outcome
    package var date: Date
    /// Keep a numbered event until the app has acknowledged it.
    package var isNumbered: Bool
    /// Completed, and its journal has still to go: the part file stays written down until it has.
    package var leavesJournal = false

    package init(_ outcome: Outcome, at date: Date, isNumbered: Bool = true) {
        self.outcome = outcome
        // As the catalogue keeps it: who reads of it there is told the same as who hears of it.
        self.date = Date(timeIntervalSince1970: date.storedSeconds)
        self.isNumbered = isNumbered
    }

    /// The state that it leaves.
    package var state: DownloadState {
        switch outcome {
        case .completed(let finished, _): .completed(finished.proof)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }

    /// The event that tells it.
    package var event: DownloadEvent.Kind {
        switch outcome {
        case .completed(let finished, _): .completed(finished)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }
}
