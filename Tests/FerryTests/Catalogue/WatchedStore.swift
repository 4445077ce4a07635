import FerryCore
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

/// A store that counts reads of the whole list and of rows, and holds some batches, before or after they are passed on, until a
/// test opens it.
final class WatchedStore: DownloadStore {
    private let base: any DownloadStore
    private let isMeant: @Sendable (StoreChange) -> Bool
    private let isAfterwards: Bool
    private let arrivals = AsyncEvent()
    private let door = Door()
    private let loaded = Mutex(0)
    private let committed = Mutex(0)
    private let readRows = Mutex(0)

    /// Makes a store that holds the batches with such a change, `afterwards` once they are stored.
    init(
        _ base: any DownloadStore, afterwards: Bool = false,
        holding isMeant: @escaping @Sendable (StoreChange) -> Bool = { _ in false }
    ) {
        self.base = base
        isAfterwards = afterwards
        self.isMeant = isMeant
    }

    /// The number of reads of the whole list.
    var loads: Int { loaded.withLock { $0 } }
    /// The number of durable batches.
    var commits: Int { committed.withLock { $0 } }
    /// The number of reads of rows by their identifiers.
    var rowReads: Int { readRows.withLock { $0 } }
    /// Returns when so many batches wait, or have waited.
    func arrived(_ count: UInt64 = 1) async { await arrivals.wait(after: count - 1) }
    func open() { door.open() }

    func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent] {
        committed.withLock { $0 += 1 }
        let isHeld = changes.contains(where: isMeant)
        if isHeld, !isAfterwards { await hold() }
        let events = try await base.commit(changes)
        if isHeld, isAfterwards { await hold() }
        return events
    }

    private func hold() async {
        arrivals.notify()
        await door.pass()
    }

    func submit(_ changes: [StoreChange]) { base.submit(changes) }
    func close() async { await base.close() }

    func load(_ filter: RowFilter) async throws(DownloadError) -> [IndexEntry] {
        if filter == .all { loaded.withLock { $0 += 1 } }
        return try await base.load(filter)
    }
    func identifiers(of words: [String], session: String?) async throws(DownloadError) -> [[DownloadID]] {
        try await base.identifiers(of: words, session: session)
    }
    func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow? {
        readRows.withLock { $0 += 1 }
        return try await base.row(id)
    }
    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        readRows.withLock { $0 += 1 }
        return try await base.rows(ids)
    }
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow] {
        try await base.page(filter, order: order, offset: offset, limit: limit)
    }
    func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID] {
        try await base.identifiers(filter, order: order)
    }
    func gap(
        _ placement: PlacementPlanner.Placement, for place: QueuePlace
    ) async throws(DownloadError) -> QueueGap { try await base.gap(placement, for: place) }
    func identifier(at index: Int, besides place: QueuePlace) async throws(DownloadError) -> DownloadID? {
        try await base.identifier(at: index, besides: place)
    }
    func count(_ filter: RowFilter) async throws(DownloadError) -> Int { try await base.count(filter) }
    func rows(url: String) async throws(DownloadError) -> [CatalogueRow] { try await base.rows(url: url) }
    func duplicates(
        of requests: [DownloadRequest], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try await base.duplicates(of: requests, session: session)
    }
    func totals(session: String?) async throws(DownloadError) -> StoreTotals { try await base.totals(session: session) }
    func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent] {
        try await base.pendingEvents(after: number, limit: limit)
    }
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] { try await base.history(of: id) }
}

extension Workshop {
    /// Makes the manager's catalogue refuse statements of this kind, such as `BEFORE DELETE ON download`.
    func refuse(_ what: String, in manager: DownloadManager) async throws {
        let store = try await #require(manager.scheduler).opened()
        let database = try #require(store as? Catalogue).database
        let sql = "CREATE TRIGGER refusal \(what) BEGIN SELECT RAISE(ABORT, 'refused'); END"
        try database.sync { db in try db.execute(sql) }
    }
}

extension Scheduler {
    /// Opens the list with a store that holds the batches with such a change, `afterwards` once they are stored.
    func held(
        afterwards: Bool = false, _ isMeant: @escaping @Sendable (StoreChange) -> Bool
    ) async throws -> WatchedStore {
        let store = WatchedStore(try await opened(), afterwards: afterwards, holding: isMeant)
        use(store)
        return store
    }

    /// Replaces the store of an open list.
    func use(_ store: any DownloadStore) { storage.open(store, storage.vault, storage.ledger) }

    /// Whether the lock for adding, moving and changing many is free.
    var isListFree: Bool {
        guard listLock.tryAcquire() else { return false }
        listLock.release()
        return true
    }
}

extension StoreChange {
    var isRemoval: Bool { if case .remove = self { true } else { false } }
    var isPlace: Bool { if case .keys = self { true } else { false } }
    var isEnd: Bool { if case .end = self { true } else { false } }
    var isUpdate: Bool { if case .update = self { true } else { false } }
}
