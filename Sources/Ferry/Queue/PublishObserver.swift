import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

/// Records the publication of a file in the catalogue before the engine continues.
final class PublishObserver: PublishObserving {
    private let scheduler: Scheduler
    /// Weak, because the run retains the driver, and the driver retains this observer.
    private weak let run: Run?
    private let id: DownloadID
    /// Whether the download was held in memory and has no journal.
    private let isSmall = Atomic(false)

    init(scheduler: Scheduler, run: Run, id: DownloadID) {
        self.scheduler = scheduler
        self.run = run
        self.id = id
    }

    func willPublish(_ file: PublishedFile) async throws(DownloadError) {
        isSmall.store(true, ordering: .relaxed)
        try await scheduler.keptStore?.commit([.update(id, [.announced(file)])])
    }

    func didPublish(_ found: FinishedDownload, _ file: PublishedFile) async throws(DownloadError) {
        var finished = found
        // An earlier run may have published the file without recording it; the file then belongs to this download.
        finished.wasAlreadyComplete = false
        if let run { await scheduler.deleteLeftFile(of: run) }
        var ending = Ending(.completed(finished, file), at: scheduler.clock.date())
        ending.leavesJournal = !isSmall.load(ordering: .relaxed)
        let events = try await scheduler.keptStore?.commit([.end(id, ending)])
        run?.recorded = Run.Recorded(
            date: ending.date, number: events?.first?.number, leavesJournal: ending.leavesJournal)
    }
}

extension CatalogueRow {
    /// The file that an earlier run published, at the path where the next run expects it.
    var earlierFile: PublishedFile? {
        guard let published, let directory else { return nil }
        return published.at(FilePath(directory).appending(name).lexicallyNormalized().string)
    }

    /// The file that an earlier run published, at another path than the next run expects it, because the download has been
    /// moved since.
    var leftFile: PublishedFile? { finished == nil && published != earlierFile ? published : nil }
}

extension JournalTags {
    init(_ row: CatalogueRow) {
        self.init(
            session: row.session, position: row.key.position, priority: row.key.priority, label: row.label,
            userInfo: row.userInfo)
        rateLimit = row.request.rateLimit
        maxConnections = row.request.maxConnections == Self.usualConnections ? nil : row.request.maxConnections
        network = row.request.network
        rules = JournalRules(of: row.request)
        replaces = row.earlierFile
    }

    private static let usualConnections = DownloadRequest(sources: [], destination: .part("")).maxConnections
}
