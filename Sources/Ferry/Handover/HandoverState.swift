import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// What a list knows of its handover to the system: the keeper of the leases, where their parts are, and what the app and its
/// downloads were told.
///
/// The keeper is there from the first opening of the list until its shutdown, and executes its work in one task, the pump, which
/// begins only while the list is open. The app is in the foreground from its activation to its next suspension, which it may
/// postpone. A download is held while the system fetches it, and refused what the system has brought only until a run has asked
/// the server. Nothing is stored here: what must outlive the process, the keeper and the list have.
final class HandoverState: Sendable {
    /// How long a download in the foreground waits for tasks that are nearly done.
    private static let holdLimit: Duration = .seconds(30)
    /// How often a download whose file has landed is looked at again.
    private static let landedInterval: Duration = .seconds(1)

    private struct State {
        var keeper: HandoverKeeper?
        /// Whether the list is open, so that the pump may begin.
        var isOpen = false
        /// Whether the list has just been opened: the leases are not yet compared with the session's tasks.
        var isNew = true
        /// Where the parts of leased downloads are, read from the list before files are spliced.
        var places: [DownloadID: HandoverPlace] = [:]
        /// When the app came to the foreground; `nil` if it has not said so since the last suspension.
        var foregroundSince: Duration?
        /// How many callers let the app go on in the background.
        var postponements = 0
        /// Whether the app has asked for a suspension meanwhile.
        var isSuspensionPostponed = false
        /// Downloads that were put back because the system has leases of them.
        var held: Set<DownloadID> = []
        /// The last reason that each download was told for staying with the app.
        var told: [DownloadID: ErrorPhrase] = [:]
        /// Downloads that an attempt was counted for since the last suspension.
        var attempted: Set<DownloadID> = []
        /// Downloads of which the system brought what could not be used, until a run has asked the server.
        var refused: Set<DownloadID> = []
        /// Executes what the keeper has to do, while there is something.
        var pump: Task<Void, Never>?
        /// Set when there may be something to do.
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

    /// The app is being suspended: no pump begins, and the app is in the background.
    func willSuspend() {
        state.withLock { state in
            (state.isOpen, state.foregroundSince, state.attempted) = (false, nil, [])
        }
    }

    /// The list is to be opened after a suspension.
    func willReopen() { state.withLock { $0.isNew = true } }

    /// The list shuts down: no pump begins. Returns the present one.
    func willClose() -> Task<Void, Never>? {
        state.withLock { state in
            state.isOpen = false
            return state.pump
        }
    }

    /// The list is closed for good.
    func didClose() { state.withLock { $0.keeper = nil } }

    // MARK: The app

    /// Whether the app has come to the foreground since the last suspension.
    var isInForeground: Bool { state.withLock { $0.foregroundSince != nil } }

    /// The app has come to the foreground, unless it was there.
    func cameToForeground(at now: Duration) {
        state.withLock { state in if state.foregroundSince == nil { state.foregroundSince = now } }
    }

    /// Asks for a suspension; returns false if it is postponed.
    func maySuspend() -> Bool {
        state.withLock { state in
            guard state.postponements > 0 else { return true }
            state.isSuspensionPostponed = true
            return false
        }
    }

    /// Postpones suspensions until ``endPostponement()``.
    func postpone() { state.withLock { $0.postponements += 1 } }

    /// Returns whether a suspension was postponed, and is due.
    func endPostponement() -> Bool {
        state.withLock { state in
            state.postponements -= 1
            guard state.postponements == 0 else { return false }
            defer { state.isSuspensionPostponed = false }
            return state.isSuspensionPostponed
        }
    }

    /// The app goes on: a postponed suspension is not due.
    func forgetSuspension() { state.withLock { $0.isSuspensionPostponed = false } }

    // MARK: The pump

    /// There may be something to do: begins the pump, which calls the body as often as that is said, if the list is open.
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

    /// The keeper, and whether the leases are to be compared with the session's tasks, since the list has just been opened.
    func takeNew() -> (keeper: HandoverKeeper?, isNew: Bool) {
        state.withLock { state in
            defer { state.isNew = false }
            return (state.keeper, state.isNew)
        }
    }

    // MARK: Parts

    /// Where the part of a leased download is; `nil` if that was not read.
    func place(of id: DownloadID) -> HandoverPlace? { state.withLock { $0.places[id] } }

    /// A pair was made at this place.
    func made(_ place: HandoverPlace, of id: DownloadID) { state.withLock { $0.places[id] = place } }

    /// Takes the places of the leased downloads over from the list; those of others are forgotten.
    func read(_ places: [DownloadID: HandoverPlace]) {
        state.withLock { state in
            // A pair may have been made since, whose name the list does not have yet.
            state.places = places.merging(state.places.filter { places[$0.key] != nil }) { new, old in
                new.paths == nil ? old : new
            }
        }
    }

    // MARK: Downloads

    /// Holds a download whose leases have not ended. Returns until when its run has to wait; `nil` if it need not.
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

    /// Counts an attempt of the system; returns whether it is the first since the last suspension.
    func countAttempt(of id: DownloadID) -> Bool { state.withLock { $0.attempted.insert(id).inserted } }

    /// The system brought what could not be used.
    func noteRefusal(of id: DownloadID) { state.withLock { _ = $0.refused.insert(id) } }

    func hasRefused(_ id: DownloadID) -> Bool { state.withLock { $0.refused.contains(id) } }

    /// Runs of these downloads have asked their servers.
    func forgetRefusals(of ids: some Sequence<DownloadID>) { state.withLock { $0.refused.subtract(ids) } }

    /// Notes why a download stays with the app; returns whether it was told another reason before, or none.
    func noteReason(_ phrase: ErrorPhrase, of id: DownloadID) -> Bool {
        state.withLock { $0.told.updateValue(phrase, forKey: id) != phrase }
    }
}

/// The part file of a leased download, and how it is opened.
struct HandoverPlace: Sendable {
    /// The paths of the part file; `nil` without one.
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

    /// Opens the pair; `nil` if it is gone. Blocks.
    func open(_ id: DownloadID, _ fileSystem: any FileSystem) throws(DownloadError) -> HandoverPair? {
        guard let paths else { return nil }
        return try HandoverPair.open(
            id, at: paths.part, rules: ResumeRules(trust: request.trust, hasDigest: request.hasDigest),
            syncs: request.syncsToDisk, acceptsUnproven: acceptsUnproven, fileSystem: confined(fileSystem))
    }

    /// Makes the pair of a download that has never run, for the response with which its whole file has landed; `nil` if its
    /// rule for names in use permits none. Blocks.
    mutating func make(
        _ id: DownloadID, landed head: ResponseHead, at date: Date, _ fileSystem: any FileSystem
    ) throws(DownloadError) -> HandoverPair? {
        let made = try HandoverPair.make(
            id, of: request, landed: head, tags: tags, acceptsUnproven: acceptsUnproven, date: date,
            fileSystem: confined(fileSystem))
        paths = made?.paths
        return made?.pair
    }

    /// Whether the download has no files: it has never run, or had nothing to keep. Blocks.
    func isAbsent(_ fileSystem: any FileSystem) -> Bool {
        guard let paths else { return true }
        let files = confined(fileSystem)
        return [paths.part, paths.journal, paths.oldPart, paths.oldJournal].allSatisfy {
            (try? files.exists($0)) == false
        }
    }

    /// The bytes that the journal claims; `nil` without a journal of this download. Blocks.
    func held(
        by id: DownloadID, _ fileSystem: any FileSystem
    ) -> (completedBytes: ByteCount, totalBytes: ByteCount?)? {
        let files = confined(fileSystem)
        return paths.flatMap { PartFiles.held(at: $0.part.string, by: id, fileSystem: files) }
    }

    /// Reads what the journal says; `nil` if there is nothing to hand over, or the next run has to settle something first.
    /// Blocks.
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
