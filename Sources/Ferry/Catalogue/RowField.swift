package import struct Foundation.Date

/// A field of a row with its new value.
package enum RowField: Sendable, Hashable {
    /// A final state has its own change, ``StoreChange/end(_:_:)``; any other one clears ``CatalogueRow/endedAt``
    /// and `finished`; and each clears `pauseReason`.
    case state(DownloadState)
    /// It is paused, and nobody asked for that.
    case paused(PauseReason)
    /// The name, and the path of the finished file once it is taken.
    case name(String, path: String?)
    case progress(completedBytes: ByteCount, totalBytes: ByteCount?)
    /// Sources, limits, rules.
    case request(StoredRequest)
    case label(String?)
    case userInfo([String: String])
    /// Attempts without progress so far, and when the next may start.
    case attempts(Int, retryAt: Date?)
    /// The part file that it goes on with.
    case part(String?)
    /// A small file is about to get its name, or a finished one another.
    case announced(AnnouncedFile?)
    /// The file that the next run may replace.
    case published(FileStamp?)
    /// The finished file has another path now; name, path and announcement follow, and so do events of it that were not
    /// acknowledged.
    case file(FinishedDownload, FileStamp?)
}
