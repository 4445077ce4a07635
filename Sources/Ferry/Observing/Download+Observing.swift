public import Dispatch
public import FerryCore
public import Foundation
import Synchronization

extension Download {
    /// The current status and every change of it, at most about ten times a second; a slow reader gets only the
    /// latest value. Ends after a final state. The stream retains the download and its manager while it is read.
    public var updates: AsyncStream<DownloadStatus> {
        backend.startHeartbeat()
        return live.updates(owner: self)
    }

    /// Calls `handler` with the current status and every change of it, on a dispatch queue, until the token is
    /// released.
    ///
    /// Calls are serial. The handler should capture its views weakly: the token retains the handler, and a view often
    /// retains the token.
    public func observe(
        on queue: DispatchQueue, _ handler: @escaping @Sendable (DownloadStatus) -> Void
    ) -> ObservationToken {
        let updates = updates
        let end = ObservationToken.End()
        // owner: the token, which cancels it.
        let task = Task {
            for await status in updates {
                await withCheckedContinuation { continuation in
                    queue.async {
                        if !end.isReached { handler(status) }
                        continuation.resume()
                    }
                }
            }
        }
        return ObservationToken(task, end)
    }

    /// Calls `handler` with the current status and every change of it, on the main actor, until the token is
    /// released.
    public func observe(_ handler: @escaping @MainActor (DownloadStatus) -> Void) -> ObservationToken {
        let updates = updates
        let end = ObservationToken.End()
        // owner: the token, which cancels it.
        let task = Task {
            for await status in updates {
                await MainActor.run { if !end.isReached { handler(status) } }
            }
        }
        return ObservationToken(task, end)
    }
}

/// Keeps an observation alive; releasing or cancelling the token ends it.
///
/// After a cancellation on the handler's queue or actor, the handler is not called again.
public final class ObservationToken: Sendable {
    /// Whether the token was cancelled; checked right before each call.
    final class End: Sendable {
        private let reached = Atomic(false)
        var isReached: Bool { reached.load(ordering: .acquiring) }
        func reach() { reached.store(true, ordering: .releasing) }
    }
    private let task: Task<Void, Never>
    private let end: End

    init(_ task: Task<Void, Never>, _ end: End = End()) {
        self.task = task
        self.end = end
    }

    deinit { cancel() }

    /// Ends the observation.
    public func cancel() {
        end.reach()
        task.cancel()
    }
}

extension Download {
    /// Returns a new Foundation `Progress` of this download, in bytes.
    ///
    /// Its cancel, pause and resume act on the download. `Progress` retains the download; the download does not
    /// retain it.
    public func makeProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        let file = status.path.map { URL(filePath: $0, directoryHint: .notDirectory) }
        progress.setUserInfoObject(file, forKey: .fileURLKey)
        progress.isCancellable = true
        progress.isPausable = true
        // owner: none; each task ends when the download has completed the operation. `Progress` takes no errors.
        let ask = { @Sendable (what: @escaping @Sendable () async throws -> Void) in _ = Task { try? await what() } }
        progress.cancellationHandler = { [self] in ask { try await self.cancel() } }
        progress.pausingHandler = { [self] in ask { try await self.pause() } }
        progress.resumingHandler = { [self] in ask { try await self.resume() } }
        let shown = WeakProgress(progress)
        shown.show(status)
        let updates = updates
        // owner: the token, which the progress holds.
        let task = Task { for await status in updates { guard shown.show(status) else { return } } }
        progress.setUserInfoObject(ObservationToken(task), forKey: ProgressUserInfoKey("FerryObservation"))
        return progress
    }
}

/// Writes statuses into a weakly held progress.
private final class WeakProgress: Sendable {
    private weak let progress: Progress?

    init(_ progress: Progress) { self.progress = progress }

    /// False if the progress was released.
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
