package import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The in-memory state of a download that is running or has a handle; one object for each identifier.
///
/// Durable state is in the store; this object contains the state of a handle and notifies its observers of changes. Lock order:
/// this object's lock may be acquired while the queue's lock is held, never vice versa.
package final class LiveDownload: Sendable {
    private struct State {
        var request: DownloadRequest
        var status: DownloadStatus
        var finished: FinishedDownload?
        /// When the last run ended; `nil` while the download has not ended.
        var endedAt: Date?
        var driver: DownloadDriver?
        /// Set at shutdown and when the download leaves the list; the state does not change afterwards.
        var isClosed = false
        /// The position in the daemon's log up to which the shown state is current; 0 for a download of this process.
        var position: UInt64
        weak var handle: Download?

        /// The status with the driver's progress, while there is a driver.
        func status(_ progress: DownloadProgress?) -> DownloadStatus {
            var status = status
            if let progress, driver != nil { status.progress = progress }
            return status
        }
    }

    package let id: DownloadID
    /// The session that added the download.
    let session: String
    /// When the download was added; `nil` for a download of the daemon.
    let addedAt: Date?
    /// Serializes user operations on this download.
    package let lock = AsyncLock()
    /// Notifies when the state has changed or can no longer change, after the observers have received the new status.
    let changes = AsyncEvent()
    private let state: Mutex<State>
    private let observers = Broadcast<DownloadStatus>()
    private let registry: LiveRegistry

    /// Creates the object without registering it. Its deinit removes its entry from `registry`.
    package init(
        request: DownloadRequest, status: DownloadStatus, session: String = "", finished: FinishedDownload? = nil,
        addedAt: Date? = nil, endedAt: Date? = nil, registry: LiveRegistry, position: UInt64 = 0
    ) {
        id = status.id
        self.session = session
        self.addedAt = addedAt
        self.registry = registry
        state = Mutex(
            State(request: request, status: status, finished: finished, endedAt: endedAt, position: position))
    }

    deinit { registry.released(id, ObjectIdentifier(self)) }

    package var request: DownloadRequest { state.withLock { $0.request } }
    var driver: DownloadDriver? { state.withLock { $0.driver } }
    var finished: FinishedDownload? { state.withLock { $0.finished } }
    package var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Only the state, without the driver's progress.
    package var current: DownloadState { state.withLock { $0.status.state } }
    /// The state, and the error after which the download waits.
    var standing: (state: DownloadState, error: DownloadError?) {
        state.withLock { ($0.status.state, $0.status.waitError) }
    }

    package var status: DownloadStatus {
        let (status, driver) = state.withLock { ($0.status, $0.driver) }
        guard let progress = driver?.progress() else { return status }
        var live = status
        live.progress = progress
        return live
    }

    /// The existing handle, or a new one.
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
        state.withLock { $0.request = request }
    }

    func set(name: String, path: String?) {
        state.withLock { state in
            state.status.name = name
            if let path { state.status.path = path }
        }
    }

    func change(_ change: (inout DownloadRequest) -> Void) {
        state.withLock { change(&$0.request) }
    }

    /// Sets the name and path after a move. `path` is `nil` if no file exists yet.
    func moved(to name: String, path: String?) {
        state.withLock { state in
            state.status.name = name
            state.status.path = path
        }
    }

    /// Applies the end of the download. `retryAt` is the time of its automatic retry.
    func end(_ ending: Ending, retryAt: Date? = nil) {
        var finished: FinishedDownload?
        if case .completed(let file, _) = ending.outcome { finished = file }
        set(state: ending.state, finished: finished, isEnd: true, endedAt: ending.date, retryAt: retryAt)
    }

    /// Sets the time of the automatic retry of a failed download; has no effect in any other state.
    func set(retryAt: Date?) {
        let isChanged = state.withLock { state in
            guard state.status.state.isFailed, state.status.retryAt != retryAt else { return false }
            state.status.retryAt = retryAt
            return true
        }
        if isChanged { publish() }
    }

    /// Sets the state. `isEnd` states whether the driver has ended, so that its progress is final. `endedAt` is the date of a final
    /// state; `nil` keeps the current date.
    package func set(
        state new: DownloadState, after error: DownloadError? = nil, finished: FinishedDownload? = nil,
        isEnd: Bool = false, endedAt: Date? = nil, retryAt: Date? = nil
    ) {
        // While a driver is running, its progress is read on demand.
        let progress = isEnd ? driver?.progress() : nil
        state.withLock { state in
            state.status.state = new
            state.status.pauseReason = nil
            state.status.waitError = error
            state.status.retryAt = retryAt
            state.endedAt = new.isFinal ? endedAt ?? state.endedAt : nil
            if isEnd { state.driver = nil }
            if let progress { state.status.progress = progress }
            if case .downloading = new {
            } else {
                state.status.progress.bytesPerSecond = 0
                state.status.progress.timeRemaining = nil
                state.status.progress.connections = 0
                state.status.progress.bottleneck = nil
            }
            if let finished {
                state.finished = finished
                state.status.path = finished.path
                // Publishing may have changed the name.
                if !finished.path.isEmpty { state.status.name = Paths.name(of: finished.path) }
                state.status.progress.completedBytes = finished.totalBytes
                state.status.progress.totalBytes = finished.totalBytes
            }
        }
        publish()
        changes.notify()
    }

    /// The result in an event, with the file's current path if the file has been moved.
    func located(_ told: FinishedDownload) -> FinishedDownload {
        guard let finished else { return told }
        var moved = told
        moved.path = finished.path
        return moved == finished ? moved : told
    }

    /// Sets the progress of a download that the system continues.
    func fetched(_ completedBytes: ByteCount, of totalBytes: ByteCount?) {
        state.withLock { state in
            state.status.progress.completedBytes = completedBytes
            state.status.progress.totalBytes = totalBytes ?? state.status.progress.totalBytes
        }
        publish()
        changes.notify()
    }

    /// Sets the number of bytes that remain on disk after a run whose driver has ended.
    func holds(_ completedBytes: ByteCount) {
        let progress = driver?.progress()
        state.withLock { state in
            state.driver = nil
            if let progress { state.status.progress = progress }
            state.status.progress.completedBytes = completedBytes
        }
    }

    /// Changes a waiting state to another reason. Returns false if the state is no longer `old`.
    @discardableResult
    func wait(for standing: Standing, insteadOf old: DownloadState) -> Bool {
        let isChanged = state.withLock { state in
            guard state.status.state == old else { return false }
            state.status.state = .waiting(standing.reason)
            state.status.pauseReason = nil
            state.status.waitError = standing.error
            return true
        }
        guard isChanged else { return false }
        publish()
        changes.notify()
        return true
    }

    /// Resets progress, path and result before the download starts over.
    func forgetProgress() {
        state.withLock { state in
            state.status.progress = DownloadProgress()
            state.status.path = nil
            state.finished = nil
        }
    }

    // MARK: Observing

    /// Sends the status to the observers. Returns false if there are none.
    @discardableResult
    func publish() -> Bool {
        guard !observers.isEmpty else { return false }
        observers.send {
            let status = observed
            return (status, isLast: status.state.isFinal)
        }
        return true
    }

    /// The current status, then every change; `owner` is retained while the stream is read.
    func updates(owner: (any Sendable)?) -> AsyncStream<DownloadStatus> {
        observers.stream(retaining: owner) {
            let status = observed
            return (status, isLast: status.state.isFinal || isClosed)
        }
    }

    /// The status with the driver's progress, while there is a driver.
    private var observed: DownloadStatus {
        let progress = driver?.progress()
        return state.withLock { $0.status(progress) }
    }

    /// Prevents further changes, and finishes the observers.
    package func close() {
        state.withLock { $0.isClosed = true }
        changes.notify()
        observers.finish()
    }
}

// MARK: - Across processes

extension LiveDownload {
    /// Everything that a handle shows now.
    var snapshot: DownloadSnapshot { listing.snapshot }

    /// Everything that a list shows now, except the place of the download.
    var listing: (snapshot: DownloadSnapshot, endedAt: Date?) {
        let (snapshot, endedAt, driver) = state.withLock { state in
            (
                DownloadSnapshot(status: state.status, request: state.request, finished: state.finished),
                state.endedAt, state.driver
            )
        }
        guard let progress = driver?.progress() else { return (snapshot, endedAt) }
        var live = snapshot
        live.status.progress = progress
        return (live, endedAt)
    }

    /// Applies a row that another process may have changed.
    func show(_ row: CatalogueRow) {
        let new = DownloadSnapshot(status: row.status, request: row.request(with: nil), finished: row.finished)
        _ = show(new) { state in
            state.endedAt = row.endedAt
            return true
        }
    }

    /// Applies a snapshot from the daemon, which is current up to this position of the daemon's log. Returns false if the shown
    /// state is at least as new.
    package func show(_ new: DownloadSnapshot, asOf position: UInt64) -> Bool {
        show(new) { state in
            guard position > state.position else { return false }
            state.position = position
            return true
        }
    }

    private func show(_ new: DownloadSnapshot, where isNewer: (inout State) -> Bool) -> Bool {
        let isShown = state.withLock { state in
            guard isNewer(&state) else { return false }
            // The local request contains the secrets, which snapshots omit.
            if state.request.withoutSecrets != new.request { state.request = new.request }
            state.status = new.status
            state.finished = new.finished
            return true
        }
        guard isShown else { return false }
        publish()
        changes.notify()
        return true
    }

    /// Applies progress from another process. Returns false, and changes nothing, unless the download is transferring or being
    /// verified.
    @discardableResult
    package func show(_ progress: DownloadProgress) -> Bool {
        let isMoving = state.withLock { state in
            guard state.status.state == .downloading || state.status.state == .verifying else { return false }
            state.status.progress = progress
            return true
        }
        if isMoving { publish() }
        return isMoving
    }

    /// Whether the shown state is newer than this position of the daemon's log.
    package func isNewer(than position: UInt64) -> Bool { state.withLock { $0.position > position } }

    /// Accepts the next snapshot from the daemon as newer regardless of its position, because the daemon's log has restarted.
    package func forgetPosition() { state.withLock { $0.position = 0 } }
}

extension LiveDownload {
    /// Creates an object for a download that has left the list, from the event that ended the download; `nil` if the event is not
    /// an end.
    ///
    /// The object is closed and in no registry; operations on it have no effect.
    convenience init?(ended event: DownloadEvent) {
        let end: DownloadState
        var finished: FinishedDownload?
        switch event.kind {
        case .completed(let file):
            end = .completed(file.proof)
            finished = file
        case .failed(let error): end = .failed(error)
        case .cancelled: end = .cancelled
        case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: return nil
        }
        // A stream has no path.
        let path = finished.flatMap { $0.path.isEmpty ? nil : $0.path }
        var request = DownloadRequest(
            sources: [], destination: path.map { DownloadRequest.Destination.file($0) } ?? .part(""))
        request.id = event.id
        let name = path.map(Paths.name) ?? event.id.rawValue
        let bytes = finished?.totalBytes
        let status = DownloadStatus(
            id: event.id, state: end, progress: DownloadProgress(completedBytes: bytes ?? 0, totalBytes: bytes),
            name: name, path: path)
        self.init(
            request: request, status: status, session: event.session ?? "", finished: finished,
            registry: LiveRegistry())
        close()
    }
}
