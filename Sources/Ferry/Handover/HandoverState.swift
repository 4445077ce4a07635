import FerryCore
import FerryEngine
import SystemPackage

/// The scheduler's state of the handover to the system.
struct HandoverState: Sendable {
    /// The keeper of the leases, from the first opening of the list until the shutdown; `nil` without a session.
    var keeper: HandoverKeeper?
    /// Where the parts of leased downloads are, read from the list before files are spliced.
    var places: [DownloadID: HandoverPlace] = [:]
    /// Whether the list has just been opened: the leases are not yet compared with the session's tasks.
    var isNew = true
    /// When the app came to the foreground; `nil` if it has not said so since the last suspension.
    var foregroundSince: Duration?
    /// Counts ``DownloadManager/activate()``.
    var activations = 0
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
    /// Whether the list was open before.
    var isReopening = false
    /// Events that the app has handled while the list was closed.
    var acknowledged: [Int64] = []
    /// Executes what the keeper has to do, while there is something.
    var pump: Task<Void, Never>?
    /// Set when there may be something to do.
    var isDue = false
}

extension Scheduler.State {
    /// Whether the death of the process counts as a crash of its runs.
    var mayCrash: Bool { configuration.backgroundTransfer == nil || handover.foregroundSince != nil }
}

/// The part file of a leased download, and how it is opened.
struct HandoverPlace: Sendable {
    /// `nil` without a part file.
    private let part: FilePath?
    private let root: String?
    private let rules: ResumeRules
    private let syncs: Bool

    init(_ row: CatalogueRow) {
        part = (row.part ?? row.path.map(Paths.part)).map { FilePath($0).lexicallyNormalized() }
        root = row.request.root
        rules = ResumeRules(trust: row.request.trust, hasDigest: row.request.hasDigest)
        syncs = row.request.syncsToDisk
    }

    /// Opens the pair; `nil` if it is gone. Blocks.
    func open(_ id: DownloadID, _ fileSystem: any FileSystem) throws(DownloadError) -> HandoverPair? {
        guard let part else { return nil }
        let confined = root.map { fileSystem.confined(to: FilePath($0)) } ?? fileSystem
        return try HandoverPair.open(id, at: part, rules: rules, syncs: syncs, fileSystem: confined)
    }

    /// The bytes that the journal claims; `nil` without a journal of this download. Blocks.
    func held(
        by id: DownloadID, _ fileSystem: any FileSystem
    ) -> (completedBytes: ByteCount, totalBytes: ByteCount?)? {
        let confined = root.map { fileSystem.confined(to: FilePath($0)) } ?? fileSystem
        return part.flatMap { PartFiles.held(at: $0.string, by: id, fileSystem: confined) }
    }

    /// Reads what the journal says; `nil` if there is nothing to hand over, or the next run has to settle something first.
    /// Blocks.
    func record(of id: DownloadID, _ fileSystem: any FileSystem) -> JournalRecord? {
        let confined = root.map { fileSystem.confined(to: FilePath($0)) } ?? fileSystem
        guard let part, let found = try? PartFiles.find(at: part.string, fileSystem: confined) else { return nil }
        let record = found.record
        guard record.id == id.rawValue, record.publishing == nil, record.moving == nil, record.mismatch == nil,
            record.isTaken != true
        else { return nil }
        return record
    }
}
