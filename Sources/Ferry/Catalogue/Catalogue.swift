import Dispatch
import FerryCore
import FerryEngine
import Synchronization

/// The durable store: an SQLite database that a single process keeps open through a single connection.
///
/// All work runs on the connection's own thread; callers suspend without blocking their threads. Batches that arrive during a
/// write are written together, with one sync. After a crash, the database contains every batch up to a certain one, and no part
/// of a later batch.
///
/// While the disk refuses writes, submitted batches wait in memory. Reads see them, because they are applied in a transaction that
/// stays open and is rolled back before the next attempt to write: in WAL mode, its pages remain in memory until the commit.
package final class Catalogue: DownloadStore {
    /// The path of the database.
    package let path: String
    let database: DatabaseQueue
    let report: @Sendable (DownloadError) -> Void
    private let writing = Mutex(CatalogueBacklog())
    private let pages = Mutex(ReadPages())
    // Must be the last property, so that the lock is released after the database.
    private let lock: StateLock

    init(
        path: String, database: DatabaseQueue, lock: StateLock, report: @escaping @Sendable (DownloadError) -> Void
    ) {
        self.path = path
        self.database = database
        self.lock = lock
        self.report = report
    }

    /// The number of batches whose writing has not begun.
    var waitingBatches: Int { writing.withLock { $0.batches.count } }

    // MARK: Reading

    package func load(_ filter: RowFilter) async throws(DownloadError) -> [IndexEntry] {
        var entries = try await read { db in try IndexEntry.fetchAll(filter, db) }
        entries.sort { ($0.key, $0.id.rawValue) < ($1.key, $1.id.rawValue) }
        return entries
    }

    package func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow? {
        try await read { db in
            try db.first(Self.one, [id.rawValue]) { row in try CatalogueColumns.row(row) }
        }
    }

    package func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try await read { db in
            try ids.flatMap { try self.readable(db, Self.one, [$0.rawValue]) }
        }
    }

    package func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow] {
        let page = ReadPages.Page(filter: filter, order: order, offset: max(0, offset), limit: max(0, limit))
        return try await read { db in
            if let rows = self.pages.withLock({ $0.rows(of: page, at: db.totalChangesCount) }) { return rows }
            let sql =
                "SELECT \(CatalogueColumns.selection) FROM download\(filter.clause) \(order.clause) LIMIT ? OFFSET ?"
            let rows = try self.readable(db, sql, filter.arguments + [page.limit, page.offset])
            self.pages.withLock { $0.keep(rows, of: page) }
            return rows
        }
    }

    package func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID] {
        try await read { db in
            let sql = "SELECT id FROM download\(filter.clause) \(order.clause)"
            return try db.all(sql, filter.arguments) { row in DownloadID(rawValue: try row[0]) }
        }
    }

    package func identifiers(
        of words: [String], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try await read { db in
            let own = "(?2 IS NULL OR session = ?2) \(Self.order)"
            /// The identifiers of the rows whose value in `column` is one of `texts`, grouped by that value.
            func rows(_ column: String, _ texts: [String]) throws -> [String: [DownloadID]] {
                let sql =
                    "SELECT \(column), id FROM download WHERE \(column) IN (SELECT value FROM json_each(?1)) AND \(own)"
                let rows = try db.all(sql, [StoredText.text(texts), session]) { row in
                    (text: try row[0] as String, id: DownloadID(rawValue: try row[1]))
                }
                return Dictionary(grouping: rows, by: \.text).mapValues { $0.map(\.id) }
            }
            var found = try rows("id", words)
            found.merge(try rows("name", words.filter { found[$0] == nil })) { first, _ in first }
            let beginning = "SELECT id FROM download WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) AND \(own)"
            for word in words where found[word] == nil && !word.isEmpty {
                found[word] = try db.all(beginning, [word, session]) { row in DownloadID(rawValue: try row[0]) }
            }
            return words.map { found[$0] ?? [] }
        }
    }

    package func gap(
        _ placement: PlacementPlanner.Placement, for place: QueuePlace
    ) async throws(DownloadError) -> QueueGap {
        try await read { db in
            var gap = QueueGap()
            switch placement {
            case .front: gap.right = try Self.neighbour(of: place, ">=", .min, db)
            case .back: gap.left = try Self.neighbour(of: place, "<=", .max, db)
            case .before(let key):
                gap.left = try Self.neighbour(of: place, "<", key.position, db)
                gap.right = try Self.neighbour(of: place, ">=", key.position, db)
            case .after(let key):
                gap.left = try Self.neighbour(of: place, "<=", key.position, db)
                gap.right = try Self.neighbour(of: place, ">", key.position, db)
            }
            return gap
        }
    }

    /// The nearest download of the same priority on one side of a position.
    private static func neighbour(
        of place: QueuePlace, _ side: String, _ position: Int64, _ db: Database
    ) throws -> QueuePlace? {
        let way = side.utf8.hasPrefix("<") ? "DESC" : "ASC"
        let sql = """
            SELECT id, position FROM download WHERE priority = ? AND id <> ? AND position \(side) ? \
            ORDER BY position \(way), id \(way) LIMIT 1
            """
        return try db.first(sql, [place.key.priority, place.id.rawValue, position]) { row in
            QueuePlace(
                id: DownloadID(rawValue: try row[0]),
                key: QueueKey(priority: place.key.priority, position: try row[1]))
        }
    }

    package func identifier(
        at index: Int, besides place: QueuePlace
    ) async throws(DownloadError) -> DownloadID? {
        try await read { db in
            let sql = """
                SELECT id FROM download WHERE priority = ? AND id <> ? ORDER BY position, id LIMIT 1 OFFSET ?
                """
            return try db.first(sql, [place.key.priority, place.id.rawValue, max(0, index)]) { row in
                DownloadID(rawValue: try row[0])
            }
        }
    }

    package func count(_ filter: RowFilter) async throws(DownloadError) -> Int {
        try await read { db in
            if let count = self.pages.withLock({ $0.count(of: filter, at: db.totalChangesCount) }) { return count }
            let sql = "SELECT count(*) FROM download\(filter.clause)"
            let count: Int = try db.first(sql, filter.arguments) { row in try row[0] } ?? 0
            self.pages.withLock { $0.keep(count, of: filter) }
            return count
        }
    }

    package func rows(url: String) async throws(DownloadError) -> [CatalogueRow] {
        try await read { db in
            let sql = "SELECT \(CatalogueColumns.selection) FROM download WHERE url = ? \(Self.order)"
            return try self.readable(db, sql, [url])
        }
    }

    package func duplicates(
        of requests: [DownloadRequest], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try await read { db in
            let sql = """
                SELECT id FROM download WHERE url = ? AND place = ? AND mirrors IS ? AND (?4 IS NULL OR session = ?4) \
                \(Self.order)
                """
            return try requests.map { request in
                let url = request.sources.first?.text ?? ""
                let (place, mirrors) = (CatalogueColumns.place(request), CatalogueColumns.mirrors(request))
                let arguments: Database.Arguments = [url, place, mirrors, session]
                return try db.all(sql, arguments) { row in DownloadID(rawValue: try row[0]) }
            }
        }
    }

    package func totals(session: String?) async throws(DownloadError) -> StoreTotals {
        try await read { db in
            var totals = StoreTotals()
            // total() returns a floating-point number; sum() throws on integer overflow.
            let sql = """
                SELECT state, count(*), total(completed) FROM download WHERE ?1 IS NULL OR session = ?1 GROUP BY state
                """
            try db.forEach(sql, [session]) { row in
                guard let kind = StateKind(rawValue: try row[0]) else { return }
                totals.counts[kind] = try row[1]
                totals.bytes[kind] = ByteCount(exactly: (try row[2] as Double).rounded()) ?? .max
            }
            return totals
        }
    }

    package func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent] {
        // An event whose number is not durable could get another number later.
        try await read(.stored) { db in
            let sql = """
                SELECT number, session, download, time, kind FROM event WHERE number > ? ORDER BY number LIMIT ?
                """
            return try self.readable(db, sql, [number, max(0, limit)]) { row in
                let event = DownloadEvent(
                    id: DownloadID(rawValue: try row[2]), date: try row.date(3),
                    try StoredText.value(LocalizedEvent.self, row[4] as String))
                return NumberedEvent(number: try row[0], session: try row[1], event: event)
            }
        }
    }

    package func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await read { db in
            let sql = "SELECT time, kind FROM history WHERE download = ? ORDER BY number"
            return try self.readable(db, sql, [id.rawValue]) { row in
                DownloadEvent(
                    id: id, date: try row.date(0), try StoredText.value(LocalizedEvent.self, row[1] as String))
            }
        }
    }

    private static let order = RowOrder.queue.clause
    private static let one = "SELECT \(CatalogueColumns.selection) FROM download WHERE id = ?"

    private func readable(_ db: Database, _ sql: String, _ arguments: Database.Arguments) throws -> [CatalogueRow] {
        try readable(db, sql, arguments) { row in try CatalogueColumns.row(row) }
    }

    /// Returns the rows that can be decoded. An unreadable row is reported and skipped.
    private func readable<Value>(
        _ db: Database, _ sql: String, _ arguments: Database.Arguments, _ read: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try db.forEach(sql, arguments) { row in
            do {
                values.append(try read(row))
            } catch {
                report(DownloadError(error, catalogue: path, doing: .catalogueEntry))
            }
        }
        return values
    }

    /// Which batches a read sees.
    private enum Seen {
        case stored
        /// Also those that the disk has refused so far.
        case all
    }

    private func read<Value: Sendable>(
        _ seen: Seen = .all, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(DownloadError) -> Value {
        let result: Result<Value, DownloadError> = await withCheckedContinuation { continuation in
            database.async(.read) { db in
                if !self.writing.withLock(\.isBehind) { self.drain(db) }
                switch seen {
                case .stored: self.hideRefused(db)
                case .all: self.showRefused(db)
                }
                guard !self.writing.withLock(\.isReleased) else {
                    return continuation.resume(returning: .failure(.storeIsClosed))
                }
                do {
                    continuation.resume(returning: .success(try body(db)))
                } catch {
                    let error = DownloadError(error, catalogue: self.path, doing: .catalogueReading)
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    // MARK: Closing

    package func close() async {
        writing.withLock { $0.isClosing = true }
        await withCheckedContinuation { continuation in
            database.async(.write) { db in
                self.drain(db)
                let isFirst = self.writing.withLock { backlog in
                    defer { backlog.isReleased = true }
                    return !backlog.isReleased
                }
                if isFirst {
                    do { try db.close() } catch {
                        self.report(DownloadError(error, catalogue: self.path, doing: .catalogueClosing))
                    }
                    self.lock.release()
                }
                continuation.resume()
            }
        }
    }
}

extension IndexEntry {
    /// The entries that match `filter`, in no particular order.
    fileprivate static func fetchAll(_ filter: RowFilter, _ db: Database) throws -> [IndexEntry] {
        let sql = """
            SELECT id, priority, position, state, host, metered, constrained, notBefore, retryAt, part IS NOT NULL OR announced IS NOT NULL, session
            FROM download\(filter.clause)
            """
        var entries: [IndexEntry] = []
        var hosts: [String: String] = [:]
        func shared(_ text: String) -> String {
            if let known = hosts[text] { return known }
            hosts[text] = text
            return text
        }
        try db.forEach(sql, filter.arguments) { row in
            guard let kind = StateKind(rawValue: try row[3]) else { return }
            entries.append(
                IndexEntry(
                    id: DownloadID(rawValue: try row[0]), key: QueueKey(priority: try row[1], position: try row[2]),
                    kind: kind, network: NetworkRule(allowsMetered: try row[5], allowsConstrained: try row[6]),
                    host: shared(try row[4]), session: shared(try row[10]),
                    wakeAt: wakeAt(kind, notBefore: try row.dateIfPresent(7), retryAt: try row.dateIfPresent(8)),
                    leavesJournal: try kind == .completed && row[9]))
        }
        return entries
    }
}

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
    /// Whether the disk refused the latest write; ``batches`` then begins with the refused ones.
    var isBehind = false
    /// The number of batches, from the first one on, that are applied in a transaction that stays open; `nil` while there is none.
    var shownCount: Int?
    /// Set by ``Catalogue/close()``; no more batches are accepted.
    var isClosing = false
    /// Set once the connection is closed.
    var isReleased = false

    /// The number of refused batches beyond which progress, and then history, is dropped. The journals contain the progress too.
    static let maxRefused = 4096
    /// The maximum number of refused batches; beyond it, the oldest batches are dropped.
    static let mostRefused = 16 * maxRefused

    /// Limits submitted batches after a failed write: drops progress first, then history, then the oldest batches. Returns the kept
    /// batches, and the number of dropped batches that contained more than progress.
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
        hideRefused(db)
        let batches = writing.withLock { backlog in
            defer {
                backlog.batches = []
                backlog.isScheduled = false
                backlog.isBehind = false
            }
            return backlog.batches
        }
        guard !batches.isEmpty else { return }
        // After a failure, write the batches one by one, so that a batch that does not fit on the disk does not fail the others.
        if write(batches, db) == nil { return }
        for (index, batch) in batches.enumerated() {
            guard let refusal = write([batch], db, isLast: true), batch.waiting == nil else { continue }
            // Keep the order: batches that were submitted later wait with this one, and later commits fail for its reason.
            let later = batches[(index + 1)...]
            for other in later where other.waiting != nil { tell(other, .failure(refusal)) }
            return keep([batch] + later.filter { $0.waiting == nil })
        }
    }

    /// Applies the batches that the disk has refused, without writing them, so that reads see them. Without memory for them, reads
    /// see only what is stored.
    private func showRefused(_ db: Database) {
        let (batches, shown) = writing.withLock { backlog -> ([CatalogueBacklog.Batch], Int?) in
            guard backlog.isBehind else { return ([], nil) }
            defer { backlog.shownCount = backlog.shownCount ?? 0 }
            return (backlog.batches, backlog.shownCount)
        }
        let count = shown ?? 0
        guard batches.count > count else { return }
        do {
            // A page that is spilled from the cache would be written to the disk.
            if shown == nil { try db.execute("PRAGMA cache_spill = OFF; BEGIN IMMEDIATE") }
            for batch in batches[count...] where batch.waiting == nil { _ = try apply(batch, db) }
            writing.withLock { $0.shownCount = batches.count }
        } catch { hideRefused(db) }
    }

    /// Undoes ``showRefused(_:)``.
    private func hideRefused(_ db: Database) {
        let isOpen = writing.withLock { backlog in
            defer { backlog.shownCount = nil }
            return backlog.shownCount != nil
        }
        guard isOpen else { return }
        if db.isInTransaction { try? db.execute("ROLLBACK") }
        try? db.execute("PRAGMA cache_spill = ON")
    }

    /// Writes batches in one transaction and resumes their callers. Returns the error if the disk refused the write; then nothing
    /// is written and, unless `isLast`, no caller is resumed.
    private func write(
        _ batches: [CatalogueBacklog.Batch], _ db: Database, isLast: Bool = false
    ) -> DownloadError? {
        var results: [Result<[NumberedEvent], DownloadError>] = []
        do {
            try db.transaction {
                for batch in batches { results.append(try apply(batch, db)) }
            }
        } catch {
            let failure = DownloadError(error, catalogue: path, doing: .catalogueWriting)
            let isOfTheDisk = (error as? DatabaseError)?.isOfTheDisk ?? false
            guard isLast || !isOfTheDisk else { return failure }
            for batch in batches { tell(batch, .failure(failure)) }
            return isOfTheDisk ? failure : nil
        }
        for (batch, result) in zip(batches, results) { tell(batch, result) }
        return nil
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
            backlog.isBehind = !kept.isEmpty
            defer { backlog.isScheduled = true }
            return backlog.isScheduled
        }
        if !isScheduled { schedule(after: Self.retryDelay) }
    }
}

extension StoreChange {
    /// Whether the change contains only progress or history.
    fileprivate var isHistory: Bool { if case .record = self { true } else { isProgress } }

    /// Whether the change contains only progress.
    fileprivate var isProgress: Bool {
        guard case .update(_, let fields) = self else { return false }
        return fields.allSatisfy { if case .progress = $0 { true } else { false } }
    }
}
