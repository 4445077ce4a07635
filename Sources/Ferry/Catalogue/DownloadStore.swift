/// What a manager remembers of its downloads: ``MemoryStore`` for as long as it runs, ``Catalogue`` for good.
///
/// Changes are values and are applied in the order in which they are handed over, whoever hands them over; each batch
/// is applied as a whole or not at all. Every reading sees all batches that were handed over before it. Nothing here
/// blocks the caller's thread. After ``close()`` everything throws ``DownloadError/Code/shutDown``.
///
/// *List order* is that of ``QueueKey``, and by identifier where two keys are equal.
package protocol DownloadStore: Sendable {
    // MARK: Reading

    /// The lean entries of all downloads, in list order.
    func load() async throws(DownloadError) -> [IndexEntry]

    /// All about one download; `nil` when it is not listed.
    func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow?

    /// All about these downloads, in the order of `ids`; those that are not listed are left out.
    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow]

    /// At most `limit` rows that pass the filter, from the one with the number `offset` on, in this order.
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow]

    /// The identifiers of all that pass the filter, in list order.
    func identifiers(_ filter: RowFilter) async throws(DownloadError) -> [DownloadID]

    /// Between which two of its priority a download would be, put there; the placement is within that priority too.
    func gap(_ placement: PlacementPlanner.Placement, for place: QueuePlace) async throws(DownloadError) -> QueueGap

    /// Who has a number, from 0, among all others of a download's priority, in list order; `nil` behind the last.
    func identifier(at index: Int, besides place: QueuePlace) async throws(DownloadError) -> DownloadID?

    /// How many rows pass the filter.
    func count(_ filter: RowFilter) async throws(DownloadError) -> Int

    /// The rows whose first source is exactly this text (``DownloadURL/text``), in list order.
    func rows(url: String) async throws(DownloadError) -> [CatalogueRow]

    /// For each request the listed downloads of the same sources to the same place, of one session or, with `nil`, of
    /// any, in list order.
    func duplicates(of requests: [StoredRequest], session: String?) async throws(DownloadError) -> [[DownloadID]]

    /// How many downloads of a session there are and how many bytes they hold, by state; with `nil` of any.
    func totals(session: String?) async throws(DownloadError) -> StoreTotals

    /// Ended events that nobody has acknowledged, with numbers above `number`, in order, at most `limit`.
    func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent]

    /// The newest ``StoreChange/maxHistory`` events of a download, oldest first.
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent]

    // MARK: Changing

    /// Hands a batch over and returns at once; it is durable a little later, together with others.
    ///
    /// A change of a download that is not listed does nothing. A batch that cannot be applied is dropped, and what
    /// was wrong is told where the store was made; one that the disk refuses is tried again before the next.
    func submit(_ changes: [StoreChange])

    /// Hands a batch over and returns when it is durable; gives the ended events of the batch with their numbers.
    ///
    /// Throws `duplicate` when an identifier is listed already, `diskFull`, or `catalogue` with what the database said;
    /// then nothing of the batch is kept. Cancelling the task changes nothing.
    @discardableResult
    func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent]

    /// Makes durable what was handed over, and lets go of everything; idempotent.
    func close() async
}

extension DownloadStore {
    /// A page in list order.
    package func page(_ filter: RowFilter, offset: Int, limit: Int) async throws(DownloadError) -> [CatalogueRow] {
        try await page(filter, order: .queue, offset: offset, limit: limit)
    }

    /// Of any session.
    package func duplicates(of requests: [StoredRequest]) async throws(DownloadError) -> [[DownloadID]] {
        try await duplicates(of: requests, session: nil)
    }

    /// Of all sessions.
    package func totals() async throws(DownloadError) -> StoreTotals { try await totals(session: nil) }

    /// The app has handled this event: it is not kept any longer; durable when it returns.
    package func acknowledge(_ number: Int64) async throws(DownloadError) { try await commit([.acknowledge(number)]) }
}
