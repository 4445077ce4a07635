import FerryCore
public import Foundation
import Synchronization

extension Download {
    /// Foundation's progress of this download, in bytes, for views that show one; made anew with each call.
    ///
    /// Its cancel, pause and resume do that to the download. It counts to the end while somebody holds it; it holds the
    /// download, and the download does not hold it: who lets it go lets go of both.
    public func makeProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        let file = status.path.map { URL(filePath: $0, directoryHint: .notDirectory) }
        progress.setUserInfoObject(file, forKey: .fileURLKey)
        progress.isCancellable = true
        progress.isPausable = true
        // owner: nobody has to wait for them: each ends when the download has done what was asked.
        let ask = { @Sendable (what: @escaping @Sendable () async -> Void) in _ = Task { await what() } }
        progress.cancellationHandler = { [self] in ask { _ = await self.cancel() } }
        progress.pausingHandler = { [self] in ask { _ = await self.pause() } }
        progress.resumingHandler = { [self] in ask { _ = await self.resume() } }
        let shown = WeakProgress(progress)
        shown.show(status)
        let updates = updates
        // owner: the token, which the progress holds.
        let task = Task { for await status in updates { guard shown.show(status) else { return } } }
        progress.setUserInfoObject(ObservationToken(task), forKey: ProgressUserInfoKey("FerryObservation"))
        return progress
    }
}

/// Writes a status into a progress that may go at any time.
private final class WeakProgress: Sendable {
    private weak let progress: Progress?

    init(_ progress: Progress) { self.progress = progress }

    /// False when it has gone.
    @discardableResult
    func show(_ status: DownloadStatus) -> Bool {
        guard let progress else { return false }
        progress.totalUnitCount = status.progress.totalBytes ?? -1
        progress.completedUnitCount = status.progress.completedBytes
        let speed = status.progress.bytesPerSecond
        progress.setUserInfoObject(speed > 0 ? Int(exactly: speed.rounded()) : nil, forKey: .throughputKey)
        progress.setUserInfoObject(status.progress.timeRemaining?.seconds, forKey: .estimatedTimeRemainingKey)
        return true
    }
}
