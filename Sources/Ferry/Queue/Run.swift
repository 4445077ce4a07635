import FerryCore
import FerryEngine
import struct Foundation.Date
import Synchronization

/// One run of one download: from the slot that it was given to the end of its driver.
final class Run: Sendable {
    /// Why a run is to stop before its end; of several the strongest counts.
    enum Stop: Sendable, Hashable {
        /// Another one takes its slot; it goes on when there is one again.
        case slot
        /// No network that it may use.
        case network
        /// It backs off, and others want its slot.
        case backOff
        /// It was changed and begins again at once.
        case change
        /// The manager is shut down.
        case shutdown
        /// By the user; with what is held kept.
        case pause
        /// What is held leaves the list with its resume data.
        case cancelProducingResumeData
        /// By the user, for good.
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

        /// It would go on by itself, later.
        var isPassing: Bool { strength == 0 }

        func isStronger(than other: Stop?) -> Bool { other.map { strength > $0.strength } ?? true }

        /// What the driver is told.
        var order: DownloadDriver.Stop { self == .cancel ? .cancel : .pause }
    }

    private struct State {
        var driver: DownloadDriver?
        var stop: Stop?
        var task: Task<Void, Never>?
        var retryAt: Date?
        var isStream = false
        var hasBegun = false
        var edits = 0
        var isRecorded = false
        var leavesJournal = false
        var number: Int64?
    }
    private let state = Mutex(State())

    /// Ends the run when it can; a weaker wish than the one before changes nothing. What has begun to write to a stream is
    /// not stopped to go on later: it could not.
    func stop(_ stop: Stop) {
        let driver: DownloadDriver? = state.withLock { state in
            if state.isStream, state.driver != nil, stop.isPassing { return nil }
            if stop.isStronger(than: state.stop) { state.stop = stop }
            return state.driver
        }
        if stop == .pause { driver?.tagPaused() }
        driver?.stop(stop.order)
    }

    /// Why it is to stop, or has stopped.
    var wish: Stop? { state.withLock { $0.stop } }

    var driver: DownloadDriver? { state.withLock { $0.driver } }

    /// The driver is ready. False when it need not run, because the run was stopped before.
    func begin(_ driver: DownloadDriver) -> Bool {
        state.withLock { state in
            state.driver = driver
            if let stop = state.stop, stop != .cancel { return false }
            if state.stop == .cancel { driver.stop(.cancel) }
            return true
        }
    }

    /// It writes to a stream: only its end and its user stop it.
    var isStream: Bool {
        get { state.withLock { $0.isStream } }
        set { state.withLock { $0.isStream = newValue } }
    }

    /// It waits for its next attempt, until this time; `nil`: not any more.
    var retryAt: Date? {
        get { state.withLock { $0.retryAt } }
        set { state.withLock { $0.retryAt = newValue } }
    }

    /// It was said that it has started, or goes on: what comes now is progress.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    func begun() { state.withLock { $0.hasBegun = true } }

    /// How often something that is written down of it was changed since the run began, by its user.
    var edits: Int { state.withLock { $0.edits } }
    /// Another change is written down, and shown next; under the scheduler's lock.
    func edited() { state.withLock { $0.edits += 1 } }

    /// The task that is the run, to be awaited.
    func set(task: Task<Void, Never>) { state.withLock { $0.task = task } }
    func ended() async { await state.withLock { $0.task }?.value }

    /// It is over: what it ran with goes.
    func letGo() { state.withLock { $0.driver = nil } }

    /// Its completion is in the store, with the number of its event, before its journal goes.
    func record(number: Int64?, leavesJournal: Bool) {
        state.withLock { state in
            state.isRecorded = true
            state.leavesJournal = leavesJournal
            state.number = number
        }
    }
    var recorded: (isThere: Bool, leavesJournal: Bool, number: Int64?) {
        state.withLock { ($0.isRecorded, $0.leavesJournal, $0.number) }
    }
}
