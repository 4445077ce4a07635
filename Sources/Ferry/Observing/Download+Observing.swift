public import Dispatch
public import FerryCore
import Synchronization

extension Download {
    /// The current status and every change, at most about ten times a second; a slow reader gets only the latest value. Ends
    /// after a final state. The stream retains the download and its manager while it is read.
    public var updates: AsyncStream<DownloadStatus> {
        backend.startHeartbeat()
        return live.updates(owner: self)
    }

    /// Calls `handler` with the current status and every change, on a dispatch queue, until the token is released.
    ///
    /// Calls are serial. The handler should capture its views weakly, because the token retains the handler, and a view often
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

    /// Calls `handler` with the current status and every change, on the main actor, until the token is released.
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

/// Keeps an observation alive; releasing or cancelling the token ends the observation.
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

    init(_ task: Task<Void, Never>, _ end: End) {
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
