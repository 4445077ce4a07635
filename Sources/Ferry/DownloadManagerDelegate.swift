public import FerryCore

/// What a manager tells an app; every method has an empty default.
///
/// Methods are called one after the other, on the main actor unless ``DownloadManager/setDelegate(_:on:)`` was given
/// another; calls for one download come in this order: resumed, progress…, then one of paused, completed, failed or
/// cancelled. An event that ends a download counts as handled when its method has returned: one whose method did not
/// return, because the app was killed in it, is told again at the next start. The manager holds its delegate weakly.
///
/// An end is told also when the download has left the list since. Its handle shows how it ended and nothing else: not what
/// was asked for, and calls change nothing.
///
/// A class on the main actor marks each method `@MainActor`: where methods are called is said by ``DownloadManager``
/// alone, so the protocol cannot.
public protocol DownloadManagerDelegate: AnyObject, Sendable {
    /// It has begun: the server said what the file is.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didStart name: String, totalBytes: ByteCount?) async

    /// It goes on from bytes that are held; `reason` says what they are known by.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didResumeAtOffset offset: ByteCount, totalBytes: ByteCount?,
        reason: String) async

    /// At most ten times a second for one download; the latest alone, when the delegate is slower.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didMakeProgress progress: DownloadProgress) async

    /// It waits: for a network that it may use, the next attempt, space, a link or credentials.
    ///
    /// That it waits for its turn, or its earliest start, is shown by ``Download/status`` and no call: 100,000 may. Of those that
    /// wait for a network, those are told that ran, and those whose turn it would be: as many as may run at a time.
    func downloadManager(_ manager: DownloadManager, download: Download, isWaitingFor reason: WaitReason) async

    /// It was paused; what is there is safe.
    func downloadManager(_ manager: DownloadManager, didPause download: Download) async

    /// The file has its name.
    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload) async

    /// It failed; what is there is kept. Never called for a pause, a cancellation or a shutdown.
    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async

    /// It was cancelled.
    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async

    /// Everything that ended while nobody listened has been told, once after each activation
    /// (`urlSessionDidFinishEvents(forBackgroundURLSession:)`).
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
