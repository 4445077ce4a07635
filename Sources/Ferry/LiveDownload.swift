import FerryCore
import FerryEngine
import Synchronization

/// What is known of a download that runs, or that somebody holds a handle of: one object for each, found by its id.
///
/// Everything that lasts is in the store; this is what a handle shows, and who is told when it changes.
/// Locks: this one may be taken under the scheduler's, never the other way round.
final class LiveDownload: Sendable {
    private struct State {
        var request: DownloadRequest
        var status: DownloadStatus
        var finished: FinishedDownload?
        var driver: DownloadDriver?
        var observers: [Int: AsyncStream<DownloadStatus>.Continuation] = [:]
        var lastObserver = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Nothing changes any more: the manager was shut down, or the download is not listed any longer.
        var isClosed = false
        /// Of what is shown; see ``DownloadSnapshot/revision``.
        var revision: UInt64
        weak var handle: Download?

        /// The status with what the driver says of its progress, while there is one.
        func status(_ progress: DownloadProgress?) -> DownloadStatus {
            var status = status
            if let progress, driver != nil { status.progress = progress }
            return status
        }
    }

    let id: DownloadID
    /// Who asked for it.
    let session: String
    /// What users do with one download happens one after the other.
    let lock = AsyncLock()
    private let state: Mutex<State>
    private let readers: StaleReads
    private let registry: LiveRegistry

    /// It is in no registry yet; once it is let go it leaves this one.
    init(
        request: DownloadRequest, status: DownloadStatus, session: String = "", finished: FinishedDownload? = nil,
        readers: StaleReads, registry: LiveRegistry, revision: UInt64 = Revision.next()
    ) {
        id = status.id
        self.session = session
        self.readers = readers
        self.registry = registry
        state = Mutex(State(request: request, status: status, finished: finished, revision: revision))
    }

    deinit { registry.letGo(id, ObjectIdentifier(self)) }

    var request: DownloadRequest { state.withLock { $0.request } }
    var driver: DownloadDriver? { state.withLock { $0.driver } }
    var finished: FinishedDownload? { state.withLock { $0.finished } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// The state alone, without asking the driver how far it is.
    var current: DownloadState { state.withLock { $0.status.state } }

    var status: DownloadStatus {
        let (status, driver) = state.withLock { ($0.status, $0.driver) }
        guard let progress = driver?.progress() else { return status }
        var live = status
        live.progress = progress
        return live
    }

    /// The handle that somebody holds, or a new one.
    func handle(_ make: () -> Download) -> Download {
        state.withLock { state in
            if let handle = state.handle { return handle }
            let handle = make()
            state.handle = handle
            return handle
        }
    }

    // MARK: Changing

    func set(driver: DownloadDriver?) { state.withLock { $0.driver = driver } }
    func set(request: DownloadRequest) {
        state.withLock { state in
            state.request = request
            state.revision = Revision.next()
        }
    }

    func set(name: String, path: String?) {
        state.withLock { state in
            state.revision = Revision.next()
            state.status.name = name
            if let path { state.status.path = path }
        }
    }

    func change(_ change: (inout DownloadRequest) -> Void) {
        state.withLock { state in
            change(&state.request)
            state.revision = Revision.next()
        }
    }

    /// Its files are elsewhere now; without a path, nothing of it has a name.
    func moved(to name: String, path: String?) {
        state.withLock { state in
            state.status.name = name
            state.status.path = path
            state.revision = Revision.next()
        }
    }

    /// `isEnd`: the driver has ended, and what it says of its progress is the last.
    func set(state new: DownloadState, finished: FinishedDownload? = nil, isEnd: Bool = false) {
        readers.note(id)
        // While there is a driver, it is asked whenever somebody wants to know.
        let progress = isEnd ? driver?.progress() : nil
        let waiting = state.withLock { state in
            state.status.state = new
            state.status.pauseReason = nil
            state.revision = Revision.next()
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
                // It may have got another one when it was published.
                if !finished.path.isEmpty { state.status.name = Paths.name(of: finished.path) }
                state.status.progress.completedBytes = finished.totalBytes
                state.status.progress.totalBytes = finished.totalBytes
            }
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        // Before whoever waits goes on: he finds this status in his updates.
        publish()
        for continuation in waiting { continuation.resume() }
    }

    /// How it ended, as an event has it; the file is named where it is now, when it was moved since.
    func located(_ told: FinishedDownload) -> FinishedDownload {
        guard let finished else { return told }
        var moved = told
        moved.path = finished.path
        return moved == finished ? moved : told
    }

    /// It waits for this now. False when it does not wait for the old thing any more.
    @discardableResult
    func wait(for reason: WaitReason, insteadOf old: DownloadState) -> Bool {
        readers.note(id)
        let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard state.status.state == old else { return nil }
            state.status.state = .waiting(reason)
            state.status.pauseReason = nil
            state.revision = Revision.next()
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        guard let waiting else { return false }
        publish()
        for continuation in waiting { continuation.resume() }
        return true
    }

    /// It begins anew: nothing of the file is there.
    func forgetProgress() {
        state.withLock { state in
            state.status.progress = DownloadProgress()
            state.status.path = nil
            state.finished = nil
            state.revision = Revision.next()
        }
    }

    // MARK: Telling

    /// Hands the status to who observes it. False when nobody does.
    @discardableResult
    func publish() -> Bool {
        guard state.withLock({ !$0.observers.isEmpty }) else { return false }
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

    /// The status now and at every change; `owner` lives as long as somebody reads.
    func updates(owner: (any Sendable)?) -> AsyncStream<DownloadStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadStatus.self, bufferingPolicy: .bufferingNewest(1))
        let progress = driver?.progress()
        let id: Int? = state.withLock { state in
            // Under the lock, so that nobody's later status comes before this one.
            continuation.yield(state.status(progress))
            guard !state.status.state.isFinal, !state.isClosed else { return nil }
            state.lastObserver += 1
            state.observers[state.lastObserver] = continuation
            return state.lastObserver
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            withExtendedLifetime(owner) {}
            self?.state.withLock { $0.observers[id] = nil }
        }
        return stream
    }

    /// Returns at the next change of the state.
    func change() async {
        let id = state.withLock { state in
            state.lastObserver += 1
            return state.lastObserver
        }
        let seen = current
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.status.state != seen || state.status.state.isFinal || Task.isCancelled || state.isClosed {
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

    /// Nothing changes any more: whoever waits looks again.
    func close() {
        let (waiting, observers) = state.withLock { state in
            state.isClosed = true
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

// MARK: - Across processes

extension LiveDownload {
    /// All that it shows now.
    var snapshot: DownloadSnapshot {
        let (snapshot, driver) = state.withLock { state in
            (
                DownloadSnapshot(
                    status: state.status, request: state.request, finished: state.finished, revision: state.revision),
                state.driver
            )
        }
        guard let progress = driver?.progress() else { return snapshot }
        var live = snapshot
        live.status.progress = progress
        return live
    }

    /// Shows what another process says of it. False when something newer is shown already.
    @discardableResult
    func show(_ new: DownloadSnapshot) -> Bool {
        let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard new.revision > state.revision else { return nil }
            state.revision = new.revision
            // Who asked for it here knows the secrets, which nobody sends back.
            if state.request.withoutSecrets != new.request { state.request = new.request }
            state.status = new.status
            state.finished = new.finished
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        guard let waiting else { return false }
        // Before whoever waits goes on: he finds this status in his updates.
        publish()
        for continuation in waiting { continuation.resume() }
        return true
    }

    /// Shows how far another process has come; nothing unless it moves. False when it does not.
    @discardableResult
    func show(_ progress: DownloadProgress) -> Bool {
        let isMoving = state.withLock { state in
            guard state.status.state == .downloading || state.status.state == .verifying else { return false }
            state.status.progress = progress
            return true
        }
        if isMoving { publish() }
        return isMoving
    }

    /// The other process is another one now: whatever it says next is newer.
    func forgetRevision() { state.withLock { $0.revision = 0 } }
}
