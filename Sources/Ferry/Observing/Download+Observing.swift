public import Dispatch
public import FerryCore

extension Download {
    /// The status now and whenever it changes, at most about ten times a second; only the latest value is kept for a
    /// slow reader. Ends after a final state. Who reads keeps the download and its manager alive.
    public var updates: AsyncStream<DownloadStatus> {
        scheduler.startPulse()
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
        return ObservationToken(
            // owner: the token, which cancels it.
            Task {
                for await status in updates {
                    await withCheckedContinuation { continuation in
                        queue.async {
                            handler(status)
                            continuation.resume()
                        }
                    }
                }
            })
    }

    /// Calls `handler` with the status now and whenever it changes, on the main actor, until the token goes.
    public func observe(_ handler: @escaping @MainActor (DownloadStatus) -> Void) -> ObservationToken {
        let updates = updates
        return ObservationToken(
            // owner: the token, which cancels it.
            Task {
                for await status in updates {
                    if Task.isCancelled { return }
                    await handler(status)
                }
            })
    }
}

/// Keeps an observation alive: it ends when the token is cancelled, or let go.
public final class ObservationToken: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Ends it now.
    public func cancel() { task.cancel() }
}
