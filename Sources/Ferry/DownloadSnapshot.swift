package import FerryCore

/// Everything that a handle shows at one moment, for display in another process.
package struct DownloadSnapshot: Sendable {
    /// State and progress.
    package var status: DownloadStatus
    /// The request with all changes applied; may hold secrets.
    package var request: DownloadRequest
    /// The result of a completed download; otherwise `nil`.
    package var finished: FinishedDownload?
    /// Larger than in every earlier snapshot of this process with other content.
    package var revision: UInt64

    package init(
        status: DownloadStatus, request: DownloadRequest, finished: FinishedDownload?, revision: UInt64
    ) {
        self.status = status
        self.request = request
        self.finished = finished
        self.revision = revision
    }
}

extension Download {
    /// The current snapshot.
    package var snapshot: DownloadSnapshot { live.snapshot }
}
