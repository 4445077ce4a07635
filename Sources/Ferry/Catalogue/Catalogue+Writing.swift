import FerryCore
import Dispatch
import GRDB
import Synchronization

/// Batches that wait to be written.
struct CatalogueBacklog {
    struct Batch {
        let changes: [StoreChange]
        /// Who waits; `nil` when nobody does.
        let waiting: CheckedContinuation<Result<[NumberedEvent], DownloadError>, Never>?
    }
    var batches: [Batch] = []
    /// The writer will come.
    var isScheduled = false
    /// Nothing more is taken.
    var isClosing = false
    /// The connection is closed.
    var isReleased = false

    /// So many batches may wait for a disk that refuses; beyond them, progress is forgotten: the journals have it.
    static let maxRefused = 4096
    /// Beyond so many the oldest are forgotten, whatever they say.
    static let mostRefused = 16 * maxRefused

    /// What is kept of batches that nobody waits for and the disk refused: what says least of where downloads stand goes
    /// first. How many are forgotten that said more than progress.
    static func keeping(_ refused: [Batch]) -> (kept: [Batch], forgotten: Int) {
        guard refused.count > maxRefused else { return (refused, 0) }
        var kept = refused.filter { !$0.changes.allSatisfy(\.isProgress) }
        let count = kept.count
        if kept.count > maxRefused { kept.removeAll { $0.changes.allSatisfy(\.isHistory) } }
        if kept.count > mostRefused { kept.removeFirst(kept.count - mostRefused) }
        return (kept, count - kept.count)
    }
}

extension Catalogue {
    /// How long a batch that nobody waits for may wait for others, in milliseconds.
    private static let linger = 100
    /// How long the disk is left alone after it refused, in milliseconds.
    private static let retryDelay = 5000

    package func submit(_ changes: [StoreChange]) {
        guard !changes.isEmpty else { return }
        let isFirst: Bool? = writing.withLock { backlog in
            guard !backlog.isClosing else { return nil }
            backlog.batches.append(.init(changes: changes, waiting: nil))
            defer { backlog.isScheduled = true }
            return !backlog.isScheduled
        }
        guard let isFirst else { return report(.storeIsClosed) }
        if isFirst { schedule(after: Self.linger) }
    }

    private func schedule(after milliseconds: Int) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            self.database.asyncWriteWithoutTransaction { self.drain($0) }
        }
    }

    @discardableResult
    package func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent] {
        let result: Result<[NumberedEvent], DownloadError> = await withCheckedContinuation { continuation in
            let isOpen = writing.withLock { backlog in
                guard !backlog.isClosing else { return false }
                backlog.batches.append(.init(changes: changes, waiting: continuation))
                return true
            }
            guard isOpen else { return continuation.resume(returning: .failure(.storeIsClosed)) }
            database.asyncWriteWithoutTransaction { self.drain($0) }
        }
        return try result.get()
    }

    /// Writes all that waits, on the connection's thread.
    func drain(_ db: Database) {
        let batches = writing.withLock { backlog in
            defer {
                backlog.batches = []
                backlog.isScheduled = false
            }
            return backlog.batches
        }
        guard !batches.isEmpty else { return }
        // One that the disk has no room for must not take the others along.
        if write(batches, db) { return }
        for (index, batch) in batches.enumerated() where !write([batch], db, isLast: true) && batch.waiting == nil {
            // The order must hold: what came later waits with it, or is told so.
            let later = batches[(index + 1)...]
            for other in later where other.waiting != nil { tell(other, .failure(.isBehind(path))) }
            return keep([batch] + later.filter { $0.waiting == nil })
        }
    }

    /// Writes these in one transaction and tells who waits. False when the disk refused; then nothing is written and,
    /// unless it is the last attempt, nobody is told.
    private func write(_ batches: [CatalogueBacklog.Batch], _ db: Database, isLast: Bool = false) -> Bool {
        var results: [Result<[NumberedEvent], DownloadError>] = []
        do {
            try db.inTransaction(.immediate) {
                let editor = CatalogueEditor(columns: columns)
                for batch in batches { results.append(try apply(batch, editor, db)) }
                return .commit
            }
        } catch {
            let failure = DownloadError(error, catalogue: path, doing: .catalogueWriting)
            let isOfTheDisk = (error as? DatabaseError)?.isOfTheDisk ?? false
            guard isLast || !isOfTheDisk else { return false }
            for batch in batches { tell(batch, .failure(failure)) }
            return !isOfTheDisk
        }
        for (batch, result) in zip(batches, results) { tell(batch, result) }
        return true
    }

    /// Applies one batch, all of it or nothing. Throws what concerns the whole transaction.
    private func apply(
        _ batch: CatalogueBacklog.Batch, _ editor: CatalogueEditor, _ db: Database
    ) throws -> Result<[NumberedEvent], DownloadError> {
        var events: [NumberedEvent] = []
        do {
            try db.inSavepoint {
                events = try editor.apply(batch.changes, db)
                return .commit
            }
            return .success(events)
        } catch let error as DatabaseError where error.isOfTheDisk || error.isOfDamage || !db.isInsideTransaction {
            throw error
        } catch {
            return .failure(DownloadError(error, catalogue: path, doing: .catalogueWriting))
        }
    }

    private func tell(_ batch: CatalogueBacklog.Batch, _ result: Result<[NumberedEvent], DownloadError>) {
        if let waiting = batch.waiting {
            waiting.resume(returning: result)
        } else if case .failure(let error) = result {
            report(error)
        }
    }

    /// Puts batches that the disk refused back to the front, for another attempt.
    private func keep(_ refused: [CatalogueBacklog.Batch]) {
        let (kept, forgotten) = CatalogueBacklog.keeping(refused)
        if forgotten > 0 { report(DownloadError(.catalogue, ErrorPhrase(.changesForgotten, path, "\(forgotten)"))) }
        let isScheduled = writing.withLock { backlog in
            guard !backlog.isClosing else { return true }
            backlog.batches.insert(contentsOf: kept, at: 0)
            defer { backlog.isScheduled = true }
            return backlog.isScheduled
        }
        if !isScheduled { schedule(after: Self.retryDelay) }
    }
}

extension StoreChange {
    /// Only says how far a download is, or what happened to it.
    fileprivate var isHistory: Bool { if case .record = self { true } else { isProgress } }

    /// Only says how far a download is.
    fileprivate var isProgress: Bool {
        guard case .update(_, let fields) = self else { return false }
        return fields.allSatisfy { if case .progress = $0 { true } else { false } }
    }
}
