import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// One run of a download, from the assignment of a slot to the end of its driver.
package final class Run: Sendable {
    /// Why a run is stopped before its end; the strongest of several reasons applies.
    enum Stop: Sendable, Hashable {
        /// Another download gets the slot; this download stays queued.
        case slot
        /// No permitted network is available.
        case network
        /// The download backs off, and others can use the slot.
        case backOff
        /// The request was changed; the download is queued again at once.
        case change
        /// The manager shuts down, or is suspended.
        case shutdown
        /// Paused by the user; the received bytes are kept.
        case pause
        /// The download is removed from the list, and resume data is produced.
        case cancelProducingResumeData
        /// Cancelled by the user.
        case cancel

        private var strength: Int {
            switch self {
            case .slot, .network, .backOff: 0
            case .change: 1
            case .shutdown: 2
            case .pause: 3
            case .cancelProducingResumeData: 4
            case .cancel: 5
            }
        }

        /// Whether the download resumes later without an action of the user.
        var isPassing: Bool { strength == 0 }

        func isStronger(than other: Stop?) -> Bool { other.map { strength > $0.strength } ?? true }

        /// The command for the driver.
        var order: DownloadDriver.Stop { self == .cancel ? .cancel : .pause }
    }

    /// A completion that has been stored.
    struct Recorded: Sendable {
        var date: Date
        /// The number of its event.
        var number: Int64?
        /// Whether the journal must still be removed.
        var leavesJournal: Bool
    }

    private struct State {
        var driver: DownloadDriver?
        var stop: Stop?
        var task: Task<Void, Never>?
        var retryAt: Date?
        var isStream = false
        var site: Origin?
        var refusal: QueueMachine.HostRefusal?
        var gaveUp = false
        var hasBegun = false
        var edits = 0
        var countedBytes: ByteCount = 0
        var leftFile: PublishedFile?
        var recorded: Recorded?
    }
    private let state = Mutex(State())

    /// Requests a stop; a reason weaker than an earlier one has no effect. A run that has begun to write to a stream is not
    /// stopped temporarily, because it could not resume.
    func stop(_ stop: Stop) {
        let driver: DownloadDriver? = state.withLock { state in
            if state.isStream, state.driver != nil, stop.isPassing { return nil }
            if stop.isStronger(than: state.stop) { state.stop = stop }
            return state.driver
        }
        if stop == .pause { driver?.tagPaused() }
        driver?.stop(stop.order)
    }

    /// The reason of the requested stop; `nil` if none was requested.
    var wish: Stop? { state.withLock { $0.stop } }

    var driver: DownloadDriver? { state.withLock { $0.driver } }

    /// Sets the driver. Returns false if it need not run, because a stop was requested before.
    func begin(_ driver: DownloadDriver) -> Bool {
        state.withLock { state in
            state.driver = driver
            if let stop = state.stop, stop != .cancel { return false }
            if state.stop == .cancel { driver.stop(.cancel) }
            return true
        }
    }

    /// Whether the run writes to a stream; only the user can stop such a run.
    var isStream: Bool {
        get { state.withLock { $0.isStream } }
        set { state.withLock { $0.isStream = newValue } }
    }

    /// The server against whose limits the run counts; `nil` for none.
    var site: Origin? {
        get { state.withLock { $0.site } }
        set { state.withLock { $0.site = newValue } }
    }

    /// Why the run ends without an attempt.
    var refusal: QueueMachine.HostRefusal? {
        get { state.withLock { $0.refusal } }
        set { state.withLock { $0.refusal = newValue } }
    }

    /// Whether the run has used up its attempts without a connection.
    var gaveUp: Bool {
        get { state.withLock { $0.gaveUp } }
        set { state.withLock { $0.gaveUp = newValue } }
    }

    /// When the next attempt starts; `nil` while the run does not back off.
    var retryAt: Date? {
        get { state.withLock { $0.retryAt } }
        set { state.withLock { $0.retryAt = newValue } }
    }

    /// The file of an earlier run that stayed behind in a move; it is deleted once the new file is complete.
    var leftFile: PublishedFile? {
        get { state.withLock { $0.leftFile } }
        set { state.withLock { $0.leftFile = newValue } }
    }

    /// Whether the start has been reported; later reports are progress.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    func begun() { state.withLock { $0.hasBegun = true } }

    /// The number of user changes to the stored row since the run began.
    var edits: Int { state.withLock { $0.edits } }
    /// Counts a stored change that is about to be shown. Called while the queue's lock is held.
    func edited() { state.withLock { $0.edits += 1 } }

    /// Sets the task of the run, which ``ended()`` awaits.
    func set(task: Task<Void, Never>) { state.withLock { $0.task = task } }
    func ended() async { await state.withLock { $0.task }?.value }

    /// Returns how many bytes were received since the last call.
    func takeReceivedBytes() -> ByteCount {
        guard let received = driver?.receivedBytes else { return 0 }
        return state.withLock { state in
            defer { state.countedBytes = max(state.countedBytes, received) }
            return max(0, received - state.countedBytes)
        }
    }

    /// Releases the driver after the run.
    func released() { state.withLock { $0.driver = nil } }

    /// The completion, once it is stored; the journal is removed only afterwards.
    var recorded: Recorded? {
        get { state.withLock { $0.recorded } }
        set { state.withLock { $0.recorded = newValue } }
    }
}

/// The input of a run. It is a class, because a value of this size in the frame of each waiting task would take several times its
/// size while the download runs.
final class RunInput: Sendable {
    let row: CatalogueRow
    let secrets: Secrets?
    /// The value of ``Run/edits`` before the row and the secrets were read.
    let edits: Int

    init(_ row: CatalogueRow, _ secrets: Secrets?, edits: Int) {
        self.row = row
        self.secrets = secrets
        self.edits = edits
    }

    var lacksSecrets: Bool { row.hasSecrets && secrets == nil }
}

extension Scheduler {
    /// The input of a run and the object that shows the same state; `nil` if the download is no longer listed.
    func begin(_ run: Run, _ id: DownloadID) async throws(DownloadError) -> (RunInput, LiveDownload)? {
        while true {
            guard let input = try await input(id, run) else { return nil }
            if let live = queue.object(of: input, in: run) { return (input, live) }
        }
    }

    private func input(_ id: DownloadID, _ run: Run) async throws(DownloadError) -> RunInput? {
        let edits = run.edits
        guard let row = try await store?.row(id) else { return nil }
        let secrets = row.hasSecrets ? try await vault.secrets(of: id) : nil
        return RunInput(row, secrets, edits: edits)
    }

    /// Applies changes made since the row was read, while there was no driver to receive them.
    func catchUp(_ driver: DownloadDriver, _ run: Run, _ id: DownloadID, since edits: Int) async {
        var seen = edits
        while run.edits != seen {
            seen = run.edits
            guard let row = try? await store?.row(id) else { return }
            driver.set(maxConnections: row.request.maxConnections)
            driver.set(rateLimit: row.request.rateLimit)
            if keptStore != nil { driver.set(tags: JournalTags(row)) }
        }
    }
}

extension RowField {
    static func progress(_ progress: DownloadProgress) -> RowField {
        .progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes)
    }
}
