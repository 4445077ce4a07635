public import Dispatch
public import FerryCore
import Synchronization

extension Download {
    /// The status now and whenever it changes, at most about ten times a second; only the latest value is kept for a
    /// slow reader. Ends after a final state. Who reads keeps the download and its manager alive.
    public var updates: AsyncStream<DownloadStatus> {
        backend.startPulse()
        return live.updates(owner: self)
    }

    /// Calls `handler` with the status now and whenever it changes, on a dispatch queue, until the token goes.
    ///
    /// The handler is called for one status after the other, never for two at a time. It should hold what it shows
    /// weakly: the token holds the handler, and what it shows often holds the token.
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

    /// Calls `handler` with the status now and whenever it changes, on the main actor, until the token goes.
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

/// Keeps an observation alive: it ends when the token is cancelled, or let go.
///
/// Cancelled on the queue or the actor where the handler is called, nothing comes after that.
public final class ObservationToken: Sendable {
    /// Whether it was cancelled; looked at right before each call.
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

    /// Ends it now.
    public func cancel() {
        end.reach()
        task.cancel()
    }
}
