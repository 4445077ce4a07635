public import FerryCore

/// The methods by which a manager reports events to an app; all have empty default implementations.
///
/// Methods are called serially, on the main actor. Code on another actor can read ``DownloadManager/events`` instead. The order
/// for one download is: started or resumed, progress…, then one of paused, completed, failed or cancelled. An event that ends a
/// download is acknowledged when its method has returned; if the app was killed inside the method, the event is delivered again
/// at the next launch. The manager holds its delegate weakly.
///
/// The end of a download is delivered even if the download has been removed from the list. Its handle then shows only how the
/// download ended: the request is not available, and operations throw `notFound`.
@MainActor public protocol DownloadManagerDelegate: AnyObject, Sendable {
    /// The download has started: the server has sent the name and size of the file.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didStart name: String, totalBytes: ByteCount?) async

    /// The download has resumed from existing bytes; `reason` states how these bytes were matched to the file.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didResumeAtOffset offset: ByteCount, totalBytes: ByteCount?,
        reason: String) async

    /// The download has progressed. Called at most ten times a second for each download; a slow delegate gets only the latest
    /// value.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didMakeProgress progress: DownloadProgress) async

    /// The download is waiting for a permitted network, the next attempt, disk space, a link or credentials.
    ///
    /// Not called while a download waits for a slot or its earliest start, because 100,000 downloads may do so;
    /// ``Download/status`` shows these waits. A wait for a network is reported only for downloads that were running, and for as
    /// many of the next downloads in the queue as may run at a time.
    func downloadManager(_ manager: DownloadManager, download: Download, isWaitingFor reason: WaitReason) async

    /// The download was paused; its bytes are durable.
    func downloadManager(_ manager: DownloadManager, didPause download: Download) async

    /// The file has been published under its final name.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload) async

    /// The download failed; its bytes are kept. Not called for a pause, a cancellation or a shutdown.
    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async

    /// The download was cancelled.
    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async

    /// All unacknowledged ends of downloads from earlier launches have been delivered; called once after each activation (compare
    /// `urlSessionDidFinishEvents(forBackgroundURLSession:)`).
    func downloadManagerDidFinishEvents(_ manager: DownloadManager) async
}

extension DownloadManagerDelegate {
    public func downloadManager(
        _ manager: DownloadManager, download: Download, didStart name: String, totalBytes: ByteCount?
    ) async {}
    public func downloadManager(
        _ manager: DownloadManager, download: Download, didResumeAtOffset offset: ByteCount, totalBytes: ByteCount?,
        reason: String
    ) async {}
    public func downloadManager(
        _ manager: DownloadManager, download: Download, didMakeProgress progress: DownloadProgress
    ) async {}
    public func downloadManager(
        _ manager: DownloadManager, download: Download, isWaitingFor reason: WaitReason
    ) async {}
    public func downloadManager(_ manager: DownloadManager, didPause download: Download) async {}
    public func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
    ) async {}
    public func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {}
    public func downloadManager(_ manager: DownloadManager, didCancel download: Download) async {}
    public func downloadManagerDidFinishEvents(_ manager: DownloadManager) async {}
}
