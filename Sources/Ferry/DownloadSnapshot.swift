package import FerryCore

/// All that a handle shows at one moment, for who shows it in another process.
package struct DownloadSnapshot: Sendable {
    /// Where it stands, with its progress.
    package var status: DownloadStatus
    /// What was asked for, with the changes since; may hold secrets.
    package var request: DownloadRequest
    /// How it ended well; `nil` when it has not.
    package var finished: FinishedDownload?
    /// Larger than in every earlier snapshot of this process that shows something else.
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
    /// What it shows now.
    package var snapshot: DownloadSnapshot { live.snapshot }
}

extension DownloadRequest {
    /// The same without user info, credentials, and every header that may be secret.
    package var withoutSecrets: DownloadRequest {
        var request = self
        request.sources = sources.map { $0.with(nil) }
        request.checksumList = checksumList?.with(nil)
        request.credentials = nil
        request.headers = headers.withoutSecrets
        return request
    }
}
