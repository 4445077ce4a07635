import Ferry

/// Says what the manager's delegate is told.
final class AppListener: DownloadManagerDelegate {
    private let holds: Bool
    /// Ends when all events have been told.
    let allTold: AsyncStream<Never>
    private let tellAll: AsyncStream<Never>.Continuation

    init(holds: Bool) {
        self.holds = holds
        (allTold, tellAll) = AsyncStream.makeStream()
    }

    private func say(_ call: String, _ download: Download) {
        AppSession.say(["delegate": call, "id": download.id.rawValue])
    }

    func downloadManager(_ manager: DownloadManager, didPause download: Download) async { say("didPause", download) }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
    ) async {
        say("didComplete", download)
        // Only a kill ends this.
        if holds { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {
        say("didFail", download)
    }

    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async { say("didCancel", download) }

    func downloadManagerDidFinishEvents(_ manager: DownloadManager) async {
        AppSession.say(["delegate": "didFinish"])
        tellAll.finish()
    }
}
