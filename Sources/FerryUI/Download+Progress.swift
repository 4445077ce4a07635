public import Ferry
import FerryCore
public import Foundation

extension Download {
    /// Returns a new Foundation `Progress` of this download, in bytes.
    ///
    /// Cancelling, pausing or resuming it acts on the download. The `Progress` retains the download; the download does not
    /// retain the `Progress`.
    public func makeProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        let file = status.path.map { URL(filePath: $0, directoryHint: .notDirectory) }
        progress.setUserInfoObject(file, forKey: .fileURLKey)
        progress.isCancellable = true
        progress.isPausable = true
        // owner: none; each task ends when the download has completed the operation. `Progress` cannot report errors.
        let ask = { @Sendable (what: @escaping @Sendable () async throws -> Void) in _ = Task { try? await what() } }
        progress.cancellationHandler = { [self] in ask { try await self.cancel() } }
        progress.pausingHandler = { [self] in ask { try await self.pause() } }
        progress.resumingHandler = { [self] in ask { try await self.resume() } }
        let shown = WeakProgress(progress)
        shown.show(status)
        let token = observe(on: .global()) { status in shown.show(status) }
        progress.setUserInfoObject(token, forKey: ProgressUserInfoKey("FerryObservation"))
        return progress
    }
}

/// Writes statuses to a weakly held progress.
private final class WeakProgress: Sendable {
    private weak let progress: Progress?

    init(_ progress: Progress) { self.progress = progress }

    func show(_ status: DownloadStatus) {
        guard let progress else { return }
        progress.totalUnitCount = status.progress.totalBytes ?? -1
        progress.completedUnitCount = status.progress.completedBytes
        let speed = status.progress.bytesPerSecond
        progress.setUserInfoObject(speed > 0 ? Int(exactly: speed.rounded()) : nil, forKey: .throughputKey)
        progress.setUserInfoObject(status.progress.timeRemaining?.seconds, forKey: .estimatedTimeRemainingKey)
    }
}
