package import FerryEngine
package import struct Foundation.Date

/// A field of a row with its new value.
package enum RowField: Sendable, Hashable {
    /// A final state has its own change, ``StoreChange/end(_:_:)``. Any other state clears ``CatalogueRow/endedAt``
    /// and `finished`; every state clears `pauseReason` and `waitError`.
    case state(DownloadState)
    /// Paused for this reason, not by the user.
    case paused(PauseReason)
    /// Waiting for the user or for disk space after this error.
    case waiting(WaitReason, after: DownloadError)
    /// The name, and the path of the finished file once the name is reserved.
    case name(String, path: String?)
    case progress(completedBytes: ByteCount, totalBytes: ByteCount?)
    /// Sources, limits, rules; as ``FerryCore/DownloadRequest/stored``.
    case request(DownloadRequest, hasSecrets: Bool)
    case label(String?)
    case userInfo([String: String])
    /// Consecutive attempts without progress, and when the next one may start.
    case attempts(Int, retryAt: Date?)
    /// The part file to resume.
    case part(String?)
    /// A file that is about to get its final name, or a new one by a move.
    case announced(PublishedFile?)
    /// The published file that the next run may replace.
    case published(PublishedFile?)
    /// The finished file has been moved; also updates name, path, announcement and unacknowledged events.
    case file(FinishedDownload, PublishedFile?)
}
