import FerryCore

/// The combined progress of the downloads that continue while the system shows them, and whether any is still busy.
struct ContinuedProgress: Sendable, Hashable {
    var completed: Int64 = 0
    var total: Int64 = 0
    /// Whether a download is transferring or will do so soon by itself: one that is not paused or ended, and does not wait for
    /// a network, space, a link, credentials or a time.
    var isBusy = false

    init(_ statuses: some Sequence<DownloadStatus>) {
        for status in statuses {
            guard Self.isBusy(status.state) else { continue }
            isBusy = true
            let (bytes, size) = (status.progress.completedBytes, status.progress.totalBytes)
            completed = completed.addingReportingOverflow(bytes).partialValue
            // An unknown size counts as slightly more than the received bytes, so that the bar never reaches its end.
            total = total.addingReportingOverflow(max(size ?? 0, bytes + (size == nil ? 1 : 0))).partialValue
        }
    }

    private static func isBusy(_ state: DownloadState) -> Bool {
        switch state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.server), .waiting(.retry): true
        case .waiting, .paused, .failed, .completed, .cancelled: false
        }
    }
}
