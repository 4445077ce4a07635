import Dispatch
import FerryCore
import Synchronization

/// Batches that have not been written yet.
struct CatalogueBacklog {
    struct Batch {
        let changes: [StoreChange]
        /// The caller of ``Catalogue/commit(_:)``; `nil` for a submitted batch.
        let waiting: CheckedContinuation<Result<[NumberedEvent], DownloadError>, Never>?
    }
    var batches: [Batch] = []
    /// Whether a write is scheduled.
    var isScheduled = false
    /// Set by ``Catalogue/close()``; no more batches are accepted.
    var isClosing = false
    /// Set once the connection is closed.
    var isReleased = false

    /// Number of refused batches beyond which progress, and then history, is dropped; the journals contain the
    /// progress.
    static let maxRefused = 4096
    /// Maximum number of refused batches; beyond it, the oldest are dropped.
    static let mostRefused = 16 * maxRefused

    /// Limits submitted batches after a failed write: drops progress first, then history, then the oldest. Returns
    /// the kept batches, and the number of dropped ones that held more than progress.
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
    /// How long a submitted batch may wait for others, in milliseconds.
    private static let linger = 100
    /// The delay before the next attempt after a failed write, in milliseconds.
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
            self.database.async(.write) { self.drain($0) }
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
            database.async(.write) { self.drain($0) }
        }
        return try result.get()
    }

    /// Writes all pending batches, on the connection's thread.
    func drain(_ db: Database) {
        let batches = writing.withLock { backlog in
            defer {
                backlog.batches = []
                backlog.isScheduled = false
            }
            return backlog.batches
        }
        guard !batches.isEmpty else { return }
        // Write one by one after a failure: a batch without disk space must not fail the others.
        if write(batches, db) { return }
        for (index, batch) in batches.enumerated() where !write([batch], db, isLast: true) && batch.waiting == nil {
            // Keep the order: later submitted batches wait with this one, and later commits fail.
            let later = batches[(index + 1)...]
            for other in later where other.waiting != nil { tell(other, .failure(.isBehind(path))) }
            return keep([batch] + later.filter { $0.waiting == nil })
        }
    }

    /// Writes batches in one transaction and resumes their callers. Returns false if the disk refused; then nothing
    /// is written and, unless `isLast`, no caller is resumed.
    private func write(_ batches: [CatalogueBacklog.Batch], _ db: Database, isLast: Bool = false) -> Bool {
        var results: [Result<[NumberedEvent], DownloadError>] = []
        do {
            try db.transaction {
                for batch in batches { results.append(try apply(batch, db)) }
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

    /// Applies one batch in a savepoint. Throws errors that concern the whole transaction.
    private func apply(
        _ batch: CatalogueBacklog.Batch, _ db: Database
    ) throws -> Result<[NumberedEvent], DownloadError> {
        do {
            return .success(try db.savepoint { try CatalogueEditor.apply(batch.changes, db) })
        } catch let error as DatabaseError where error.isOfTheDisk || error.isOfDamage || !db.isInTransaction {
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

    /// Puts refused batches back at the front for another attempt.
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
    /// Whether the change holds only progress or history.
    fileprivate var isHistory: Bool { if case .record = self { true } else { isProgress } }

    /// Whether the change holds only progress.
    fileprivate var isProgress: Bool {
        guard case .update(_, let fields) = self else { return false }
        return fields.allSatisfy { if case .progress = $0 { true } else { false } }
    }
}
