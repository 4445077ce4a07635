import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

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
