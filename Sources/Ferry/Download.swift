import FerryEngine
import Synchronization

/// A handle to one download; it stays valid whatever becomes of the download.
public final class Download: Sendable, Identifiable {
    private struct State {
        var status: DownloadStatus
        var driver: DownloadDriver?
        var observers: [Int: AsyncStream<DownloadStatus>.Continuation] = [:]
        var lastObserver = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var finished: FinishedDownload?

        /// The status with what the driver says of its progress, while there is one.
        func status(_ progress: DownloadProgress?) -> DownloadStatus {
            var status = status
            if let progress, driver != nil { status.progress = progress }
            return status
        }
    }

    public let id: DownloadID
    /// What was asked for.
    public let request: DownloadRequest
    private let state: Mutex<State>
    private let queue: Queue

    init(id: DownloadID, request: DownloadRequest, name: String, queue: Queue) {
        self.id = id
        self.request = request
        self.queue = queue
        state = Mutex(State(status: DownloadStatus(id: id, state: .waiting(.slot), name: name)))
    }

    /// Where it stands now; cheap.
    public var status: DownloadStatus {
        let (status, driver) = state.withLock { ($0.status, $0.driver) }
        guard let progress = driver?.progress() else { return status }
        var live = status
        live.progress = progress
        return live
    }

    /// The status now and whenever it changes, at most about ten times a second; only the latest value is kept for a
    /// slow reader. Ends after a final state.
    public var updates: AsyncStream<DownloadStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadStatus.self, bufferingPolicy: .bufferingNewest(1))
        let progress = driver?.progress()
        let id: Int? = state.withLock { state in
            // Under the lock, so that nobody's later status comes before this one.
            continuation.yield(state.status(progress))
            guard !state.status.state.isFinal, !queue.isClosed else { return nil }
            state.lastObserver += 1
            state.observers[state.lastObserver] = continuation
            return state.lastObserver
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.observers[id] = nil }
        }
        queue.startPulse()
        return stream
    }

    /// Stops it and keeps what is there; returns when that is safe on the disk. Nothing happens in a final state.
    public func pause() async { await queue.pause(self) }

    /// Lets a paused, waiting or failed download go on, behind the others.
    public func resume() async { await queue.resume(self) }

    /// Ends it and deletes its part file and journal.
    public func cancel() async { await queue.cancel(self) }

    /// Waits for the end. Throws the failure, or a ``DownloadError`` with the code `cancelled` or `shutDown`.
    public func finished() async throws(DownloadError) -> FinishedDownload {
        while true {
            let (current, result) = state.withLock { ($0.status.state, $0.finished) }
            switch current {
            case .completed: if let result { return result }
            case .failed(let error): throw error
            case .cancelled: throw DownloadError(.cancelled, "\(status.name) was cancelled")
            case .waiting, .downloading, .verifying, .paused: break
            }
            if Task.isCancelled { throw DownloadError(.cancelled, "waiting for \(status.name) was cancelled") }
            if queue.isClosed { throw DownloadError(.shutDown, "\(status.name) was left when Ferry was shut down") }
            await change()
        }
    }

    /// Returns at the next change of the state.
    private func change() async {
        let id = state.withLock { state in
            state.lastObserver += 1
            return state.lastObserver
        }
        let seen = state.withLock { $0.status.state }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.status.state != seen || state.status.state.isFinal || Task.isCancelled || queue.isClosed {
                        return true
                    }
                    state.waiting[id] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    // MARK: For the queue

    var driver: DownloadDriver? { state.withLock { $0.driver } }

    func set(driver: DownloadDriver?) { state.withLock { $0.driver = driver } }

    /// It waits for its turn again; ``publish()`` says so.
    func prepareToWait() { state.withLock { $0.status.state = .waiting(.slot) } }

    /// `isEnd`: the driver has ended, and what it says of its progress is the last.
    func set(state new: DownloadState, finished: FinishedDownload? = nil, isEnd: Bool = false) {
        let progress = driver?.progress()
        let waiting = state.withLock { state in
            state.status.state = new
            if isEnd { state.driver = nil }
            if let progress { state.status.progress = progress }
            if case .downloading = new {
            } else {
                state.status.progress.bytesPerSecond = 0
                state.status.progress.timeRemaining = nil
                state.status.progress.connections = 0
            }
            if let finished {
                state.finished = finished
                state.status.path = finished.path
                state.status.progress.completedBytes = finished.totalBytes
                state.status.progress.totalBytes = finished.totalBytes
            }
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
        publish()
    }

    func set(name: String, path: String?) {
        state.withLock { state in
            state.status.name = name
            if let path { state.status.path = path }
        }
    }

    /// Hands the status to who observes it. False when nobody does.
    @discardableResult
    func publish() -> Bool {
        let progress = driver?.progress()
        let (observers, isFinal) = state.withLock { state in
            let now = state.status(progress)
            let observers = Array(state.observers.values)
            // Under the lock, so that everybody sees states in their order.
            for observer in observers { observer.yield(now) }
            if now.state.isFinal { state.observers.removeAll() }
            return (observers, now.state.isFinal)
        }
        if isFinal { for observer in observers { observer.finish() } }
        return !observers.isEmpty
    }

    /// The manager is gone: whoever waits looks again.
    func wake() {
        let (waiting, observers) = state.withLock { state in
            defer {
                state.waiting.removeAll()
                state.observers.removeAll()
            }
            return (state.waiting.values.map { $0 }, state.observers.values.map { $0 })
        }
        for continuation in waiting { continuation.resume() }
        for observer in observers { observer.finish() }
    }
}
