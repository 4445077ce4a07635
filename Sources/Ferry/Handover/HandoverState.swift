import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The state of a list's handover to the system: the keeper of the leases, the places of their part files, the phase of the
/// app, and the reported reasons.
///
/// The keeper exists from the first opening of the list until its shutdown. Its work is executed in one task, the pump, which
/// begins only while the list is open. The app is in the foreground from its activation to its next suspension, which it may
/// postpone. A download is held while the system fetches it. A refusal of the system's data is remembered only until a run has
/// requested the file from the server. This state is not stored; the keeper and the list store what must outlive the process.
final class HandoverState: Sendable {
    /// How long a download in the foreground waits for tasks that are nearly done.
    private static let holdLimit: Duration = .seconds(30)
    /// How often a download whose file has landed is checked again.
    private static let landedInterval: Duration = .seconds(1)

    private struct State {
        var keeper: HandoverKeeper?
        /// Whether the list is open, so that the pump may begin.
        var isOpen = false
        /// Whether the list has just been opened, and the leases have not yet been compared with the session's tasks.
        var isNew = true
        /// The places of the part files of leased downloads, read from the list before files are spliced.
        var places: [DownloadID: HandoverPlace] = [:]
        /// When the app entered the foreground; `nil` if it has not been activated since the last suspension.
        var foregroundSince: Duration?
        /// The number of callers that currently postpone suspensions.
        var postponements = 0
        /// Whether the app has requested a suspension while suspensions were postponed.
        var isSuspensionPostponed = false
        /// Downloads whose runs were returned to the queue because the system has leases for them.
        var held: Set<DownloadID> = []
        /// The last reason reported for each download that stays with the app.
        var told: [DownloadID: ErrorPhrase] = [:]
        /// Downloads for which an attempt was counted since the last suspension.
        var attempted: Set<DownloadID> = []
        /// Downloads for which the system delivered unusable data, until a run has requested the file from the server.
        var refused: Set<DownloadID> = []
        /// Executes the keeper's pending work; ends when there is none.
        var pump: Task<Void, Never>?
        /// Set when there may be pending work.
        var isDue = false
    }
    private let state = Mutex(State())

    // MARK: The life of the list

    /// The keeper; `nil` without a session, before the first opening and after the shutdown.
    var keeper: HandoverKeeper? { state.withLock { $0.keeper } }

    /// Sets the keeper of a list that opens.
    func willOpen(with keeper: HandoverKeeper?) { state.withLock { $0.keeper = keeper } }

    /// The list is open: the pump may begin.
    func didOpen() { state.withLock { $0.isOpen = true } }

    /// The app is being suspended: it is in the background, and no pump may begin.
    func willSuspend() {
        state.withLock { state in
            (state.isOpen, state.foregroundSince, state.attempted) = (false, nil, [])
        }
    }

    /// The list will be opened after a suspension.
    func willReopen() { state.withLock { $0.isNew = true } }

    /// The list shuts down: no pump may begin. Returns the current pump.
    func willClose() -> Task<Void, Never>? {
        state.withLock { state in
            state.isOpen = false
            return state.pump
        }
    }

    /// The list is closed for good.
    func didClose() { state.withLock { $0.keeper = nil } }

    // MARK: The app

    /// Whether the app has entered the foreground since the last suspension.
    var isInForeground: Bool { state.withLock { $0.foregroundSince != nil } }

    /// Notes that the app has entered the foreground, unless it was already there.
    func cameToForeground(at now: Duration) {
        state.withLock { state in if state.foregroundSince == nil { state.foregroundSince = now } }
    }

    /// Requests a suspension; returns false if it is postponed.
    func maySuspend() -> Bool {
        state.withLock { state in
            guard state.postponements > 0 else { return true }
            state.isSuspensionPostponed = true
            return false
        }
    }

    /// Postpones suspensions until ``endPostponement()``.
    func postpone() { state.withLock { $0.postponements += 1 } }

    /// Ends one postponement. Returns whether a suspension was postponed and is now due.
    func endPostponement() -> Bool {
        state.withLock { state in
            state.postponements -= 1
            guard state.postponements == 0 else { return false }
            defer { state.isSuspensionPostponed = false }
            return state.isSuspensionPostponed
        }
    }

    /// The app was activated: a postponed suspension is no longer due.
    func forgetSuspension() { state.withLock { $0.isSuspensionPostponed = false } }

    // MARK: The pump

    /// Notes that there may be pending work, and begins the pump if the list is open. The pump calls `body` until there is no
    /// new note.
    func pump(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.isOpen, state.keeper != nil else { return }
            state.isDue = true
            guard state.pump == nil else { return }
            // owner: state, awaited when the list is suspended, and in its shutdown.
            state.pump = Task { [weak self] in while self?.takeDue() == true { await body() } }
        }
    }

    private func takeDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            let isDue = state.isDue && !Task.isCancelled
            if !isDue { state.pump = nil }
            return isDue
        }
    }

    /// Returns when the pump has ended.
    func pumped() async { await state.withLock { $0.pump }?.value }

    /// The keeper, and whether the list has just been opened, so that the leases must be compared with the session's tasks.
    func takeNew() -> (keeper: HandoverKeeper?, isNew: Bool) {
        state.withLock { state in
            defer { state.isNew = false }
            return (state.keeper, state.isNew)
        }
    }

    // MARK: Parts

    /// The place of the part file of a leased download; `nil` if it has not been read.
    func place(of id: DownloadID) -> HandoverPlace? { state.withLock { $0.places[id] } }

    /// Notes that a part file and its journal were created at this place.
    func made(_ place: HandoverPlace, of id: DownloadID) { state.withLock { $0.places[id] = place } }

    /// Sets the places of the leased downloads from the list, and removes all others.
    func read(_ places: [DownloadID: HandoverPlace]) {
        state.withLock { state in
            // Meanwhile, a part file may have been created whose name the list does not contain yet.
            state.places = places.merging(state.places.filter { places[$0.key] != nil }) { new, old in
                new.paths == nil ? old : new
            }
        }
    }

    // MARK: Downloads

    /// Holds a download whose leases have not ended. Returns the time until which its run must wait; `nil` if it need not wait.
    func hold(_ id: DownloadID, at now: Duration) -> Duration? {
        state.withLock { state in
            guard let keeper = state.keeper else { return nil }
            let (any, landed) = keeper.leases(of: id)
            guard any else { return nil }
            var until = (state.foregroundSince ?? now) + Self.holdLimit
            if landed { until = now + Self.landedInterval }
            guard until > now else { return nil }
            state.held.insert(id)
            return until
        }
    }

    /// Releases the downloads whose leases have ended.
    func release() -> [DownloadID] {
        state.withLock { state in
            guard let keeper = state.keeper else { return [] }
            let free = state.held.filter { !keeper.leases(of: $0).any }
            state.held.subtract(free)
            return Array(free)
        }
    }

    /// Counts an attempt by the system; returns whether it is the first since the last suspension.
    func countAttempt(of id: DownloadID) -> Bool { state.withLock { $0.attempted.insert(id).inserted } }

    /// Notes that the system delivered unusable data.
    func noteRefusal(of id: DownloadID) { state.withLock { _ = $0.refused.insert(id) } }

    func hasRefused(_ id: DownloadID) -> Bool { state.withLock { $0.refused.contains(id) } }

    /// Forgets the refusals of these downloads, because their runs have requested the files from the servers.
    func forgetRefusals(of ids: some Sequence<DownloadID>) { state.withLock { $0.refused.subtract(ids) } }

    /// Notes why a download stays with the app; returns whether the reason differs from the last reported one.
    func noteReason(_ phrase: ErrorPhrase, of id: DownloadID) -> Bool {
        state.withLock { $0.told.updateValue(phrase, forKey: id) != phrase }
    }
}

/// The place of the part file of a leased download, and the rules for opening it.
struct HandoverPlace: Sendable {
    /// The paths of the part file and its journal; `nil` without a part file.
    private(set) var paths: DownloadPaths?
    private let request: DownloadRequest
    private let tags: JournalTags
    private let acceptsUnproven: Bool

    /// - Parameter fetchesUnproven: The manager's rule for whole files without a strong validator.
    init(_ row: CatalogueRow, fetchesUnproven: Bool) {
        let part = (row.part ?? row.path.map(Paths.part)).map { FilePath($0).lexicallyNormalized() }
        paths = part.flatMap { DownloadPaths(of: $0) }
        request = row.request(with: nil)
        tags = JournalTags(row)
        acceptsUnproven = fetchesUnproven || row.request.trust.resumesUnproven
    }

    private func confined(_ fileSystem: any FileSystem) -> any FileSystem {
        request.root.map { fileSystem.confined(to: [FilePath($0)]) } ?? fileSystem
    }

    /// Opens the part file and its journal; `nil` if they are missing. Blocks.
    func open(_ id: DownloadID, _ fileSystem: any FileSystem) throws(DownloadError) -> HandoverPair? {
        guard let paths else { return nil }
        return try HandoverPair.open(
            id, at: paths.part, rules: ResumeRules(trust: request.trust, hasDigest: request.hasDigest),
            syncs: request.syncsToDisk, acceptsUnproven: acceptsUnproven, fileSystem: confined(fileSystem))
    }

    /// Creates the part file and journal of a download that has never run, for the response whose whole file has landed; `nil` if
    /// the download's conflict rule does not permit these files. Blocks.
    mutating func make(
        _ id: DownloadID, landed head: ResponseHead, at date: Date, _ fileSystem: any FileSystem
    ) throws(DownloadError) -> HandoverPair? {
        let made = try HandoverPair.make(
            id, of: request, landed: head, tags: tags, acceptsUnproven: acceptsUnproven, date: date,
            fileSystem: confined(fileSystem))
        paths = made?.paths
        return made?.pair
    }

    /// Whether the download has no files, because it has never run or had nothing to keep. Blocks.
    func isAbsent(_ fileSystem: any FileSystem) -> Bool {
        guard let paths else { return true }
        let files = confined(fileSystem)
        return [paths.part, paths.journal, paths.oldPart, paths.oldJournal].allSatisfy {
            (try? files.exists($0)) == false
        }
    }

    /// The number of bytes that the journal claims, and the total size; `nil` without a journal of this download. Blocks.
    func held(
        by id: DownloadID, _ fileSystem: any FileSystem
    ) -> (completedBytes: ByteCount, totalBytes: ByteCount?)? {
        let files = confined(fileSystem)
        return paths.flatMap { PartFiles.held(at: $0.part.string, by: id, fileSystem: files) }
    }

    /// Reads the journal; `nil` if there is nothing to hand over, or the next run must complete a step first. Blocks.
    func record(of id: DownloadID, _ fileSystem: any FileSystem) -> JournalRecord? {
        guard let paths, let found = try? PartFiles.find(at: paths.part.string, fileSystem: confined(fileSystem)) else {
            return nil
        }
        let record = found.record
        guard record.id == id.rawValue, record.publishing == nil, record.moving == nil, record.mismatch == nil,
            record.isTaken != true
        else { return nil }
        return record
    }
}
