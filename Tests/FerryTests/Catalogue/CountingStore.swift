import Synchronization

@testable import Ferry

/// A store that counts how often the whole list is read.
final class CountingStore: DownloadStore {
    private let base: any DownloadStore
    private let loaded = Mutex(0)

    init(_ base: any DownloadStore) { self.base = base }

    var loads: Int { loaded.withLock { $0 } }

    func load() async throws(DownloadError) -> [IndexEntry] {
        loaded.withLock { $0 += 1 }
        return try await base.load()
    }

    func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow? { try await base.row(id) }
    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] { try await base.rows(ids) }
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow] {
        try await base.page(filter, order: order, offset: offset, limit: limit)
    }
    func identifiers(_ filter: RowFilter) async throws(DownloadError) -> [DownloadID] {
        try await base.identifiers(filter)
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
        of requests: [StoredRequest], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] { try await base.duplicates(of: requests, session: session) }
    func totals(session: String?) async throws(DownloadError) -> StoreTotals { try await base.totals(session: session) }
    func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent] {
        try await base.pendingEvents(after: number, limit: limit)
    }
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] { try await base.history(of: id) }

    func submit(_ changes: [StoreChange]) { base.submit(changes) }
    @discardableResult
    func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent] {
        try await base.commit(changes)
    }
    func close() async { await base.close() }
}
