import Ferry

/// Prints what happens. A manager holds its delegate weakly, so `main.swift` keeps a reference.
final class Narrator: DownloadManagerDelegate {
    func downloadManager(
        _ manager: DownloadManager, download: Download, didStart name: String, totalBytes: ByteCount?
    ) async {
        say(download, "begins: \(totalBytes.map { ByteText.size($0) } ?? "size unknown")")
    }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didResumeAtOffset offset: ByteCount, totalBytes: ByteCount?,
        reason: String
    ) async {
        say(download, "goes on from \(ByteText.size(offset)): \(reason)")
    }

    func downloadManager(_ manager: DownloadManager, download: Download, isWaitingFor reason: WaitReason)
        async
    {
        say(download, DownloadState.waiting(reason).text(in: .english))
    }

    func downloadManager(_ manager: DownloadManager, didPause download: Download) async {
        say(download, "paused")
    }

    // The three final methods. Each is called again at the next start if the program is killed before the method returns,
    // so what an app does here must be repeatable.

    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
    ) async {
        say(download, "complete (\(finished.proof.rawValue)): \(finished.path)")
    }

    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {
        say(download, "failed: \(error.localizedDescription)")
        if let suggestion = error.recoverySuggestion { print("    \(suggestion)") }
    }

    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async {
        say(download, "cancelled")
    }

    func downloadManagerDidFinishEvents(_ manager: DownloadManager) async {
        print("(that is all that ended while nobody listened)")
    }

    private func say(_ download: Download, _ text: String) { print("  \(download.status.name): \(text)") }
}
