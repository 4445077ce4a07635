public import FerryCore
import FerryEngine
import Synchronization

extension Download {
    /// The current status and its changes, for text labels: a change of the state is delivered at once, progress once per
    /// interval. Otherwise like ``updates``.
    ///
    /// ```swift
    /// for await status in download.updates(every: .seconds(1)) { print(ByteText.rate(status.progress.bytesPerSecond)) }
    /// ```
    public func updates(every interval: Duration) -> AsyncStream<DownloadStatus> {
        let (updates, clock) = (updates, backend.clock)
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadStatus.self, bufferingPolicy: .bufferingNewest(1))
        let pace = PacedStatuses(UpdatePace(interval: interval), continuation)
        // owner: the stream, whose end cancels it.
        let task = Task {
            await withDiscardingTaskGroup { group in
                for await status in updates {
                    guard let time = pace.received(status, at: clock.now()) else { continue }
                    group.addTask {
                        try? await clock.sleep(until: time)
                        if !Task.isCancelled { pace.deliver(at: clock.now()) }
                    }
                }
                pace.deliver(at: clock.now(), isEnd: true)
                group.cancelAll()
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// Delivers statuses in the order of the decisions of ``UpdatePace``.
private final class PacedStatuses: Sendable {
    private let pace: Mutex<UpdatePace>
    private let continuation: AsyncStream<DownloadStatus>.Continuation

    init(_ pace: UpdatePace, _ continuation: AsyncStream<DownloadStatus>.Continuation) {
        self.pace = Mutex(pace)
        self.continuation = continuation
    }

    /// Returns when to deliver the kept status, unless that time is already known.
    func received(_ status: DownloadStatus, at now: Duration) -> Duration? {
        pace.withLock { pace in
            switch pace.received(status, at: now) {
            // allow(wakes): the end of the stream acquires none of our locks.
            case .deliver: continuation.yield(status)
            case .ask(let time): return time
            case .keep: break
            }
            return nil
        }
    }

    func deliver(at now: Duration, isEnd: Bool = false) {
        pace.withLock { pace in
            // allow(wakes): the end of the stream acquires none of our locks.
            if let status = pace.due(at: now, isEnd: isEnd) { continuation.yield(status) }
        }
    }
}
