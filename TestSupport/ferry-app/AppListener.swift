import Ferry

/// Prints the calls to the manager's delegate.
nonisolated final class AppListener: DownloadManagerDelegate {
    private let holds: Bool
    /// The events that the app prints as well; `nil` if it prints none.
    private let events: AppEvents?
    /// Finishes when all events are delivered.
    let allTold: AsyncStream<Never>
    private let tellAll: AsyncStream<Never>.Continuation

    init(holds: Bool, events: AppEvents?) {
        self.holds = holds
        self.events = events
        (allTold, tellAll) = AsyncStream.makeStream()
    }

    private func say(_ call: String, _ download: Download) {
        AppSession.say(["delegate": call, "id": download.id.rawValue])
    }

    /// Reports the end of a download. Returns once the event is printed too, because the return acknowledges the event.
    private func sayEnd(_ call: String, _ download: Download) async {
        say(call, download)
        await events?.printed(download.id)
    }

    func downloadManager(_ manager: DownloadManager, didPause download: Download) async { say("didPause", download) }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
    ) async {
        await sayEnd("didComplete", download)
        // Blocks until the process is killed.
        if holds { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {
        await sayEnd("didFail", download)
    }

    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async {
        await sayEnd("didCancel", download)
    }

    func downloadManagerDidFinishEvents(_ manager: DownloadManager) async {
        AppSession.say(["delegate": "didFinish"])
        tellAll.finish()
    }
}
