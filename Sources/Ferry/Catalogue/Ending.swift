package import FerryEngine
package import struct Foundation.Date

/// The end of a download.
package struct Ending: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// With the published file; `nil` if there is none (a stream).
        case completed(FinishedDownload, PublishedFile?)
        case failed(DownloadError)
        case cancelled
    }
    package var outcome: Outcome
    package var date: Date
    /// Keep a numbered event until the app has acknowledged it.
    package var isNumbered: Bool
    /// The completed download's journal still exists; the part file stays recorded until it is removed.
    package var leavesJournal = false

    package init(_ outcome: Outcome, at date: Date, isNumbered: Bool = true) {
        self.outcome = outcome
        // Rounded as the catalogue stores it, so that readers of the store and event listeners see the same date.
        self.date = Date(timeIntervalSince1970: date.storedSeconds)
        self.isNumbered = isNumbered
    }

    /// The state after this end.
    package var state: DownloadState {
        switch outcome {
        case .completed(let finished, _): .completed(finished.proof)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }

    /// The event of this end.
    package var event: DownloadEvent.Kind {
        switch outcome {
        case .completed(let finished, _): .completed(finished)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }
}
