/// The storage of a manager's downloads: ``MemoryStore`` keeps them for the manager's lifetime, ``Catalogue`` keeps them on disk.
///
/// Changes are values and are applied in the order of the calls; each batch is applied as a whole or not at all. A read sees all
/// batches of earlier calls. No method blocks the caller's thread. After ``close()``, every throwing method throws
/// ``DownloadError/Code/shutDown``.
///
/// *List order* sorts downloads by ``QueueKey``, then by identifier.
package protocol DownloadStore: Sendable {
    // MARK: Reading

    /// The index entries of all downloads that match the filter, in list order.
    func load(_ filter: RowFilter) async throws(DownloadError) -> [IndexEntry]

    /// The row of a download; `nil` if it is not listed.
    func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow?

    /// The rows of these downloads, in the order of `ids`; those that are not listed are omitted.
    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow]

    /// At most `limit` rows that match the filter, starting at index `offset`, in the given order.
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow]

    /// The identifiers of all rows that match the filter, in the given order.
    func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID]

    /// For each word that a user typed, the matching downloads in list order: the download with this identifier; if there is none,
    /// the downloads with this name; if there are none either, the downloads whose identifier begins with the word. Only downloads
    /// of `session` match, or of any session if it is `nil`.
    func identifiers(of words: [String], session: String?) async throws(DownloadError) -> [[DownloadID]]

    /// The neighbours that a download would have at a placement, among the downloads of its priority.
    func gap(_ placement: PlacementPlanner.Placement, for place: QueuePlace) async throws(DownloadError) -> QueueGap

    /// The identifier at a zero-based index among all other downloads of the same priority, in list order; `nil` past the end.
    func identifier(at index: Int, besides place: QueuePlace) async throws(DownloadError) -> DownloadID?

    /// The number of rows that match the filter.
    func count(_ filter: RowFilter) async throws(DownloadError) -> Int

    /// The rows whose first source is exactly this text (``DownloadURL/text``), in list order.
    func rows(url: String) async throws(DownloadError) -> [CatalogueRow]

    /// For each request, the listed downloads with the same sources and destination, in list order. Only downloads of `session` are
    /// considered, or of any session if it is `nil`.
    func duplicates(of requests: [DownloadRequest], session: String?) async throws(DownloadError) -> [[DownloadID]]

    /// The number and the bytes of a session's downloads, by state; of all downloads if `session` is `nil`.
    func totals(session: String?) async throws(DownloadError) -> StoreTotals

    /// At most `limit` unacknowledged events of ended downloads, with numbers above `number`, in ascending order.
    func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent]

    /// The newest ``StoreChange/maxHistory`` events of a download, oldest first.
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent]

    // MARK: Changing

    /// Enqueues a batch and returns at once; the batch becomes durable a little later, together with others.
    ///
    /// A change of a download that is not listed has no effect. A batch that cannot be applied is dropped and its
    /// error reported to the store's `report`; a batch that the disk refuses is retried before later ones.
    func submit(_ changes: [StoreChange])

    /// Writes a batch. Returns the numbered events of ended downloads once the batch is durable.
    ///
    /// Throws `duplicate` if an identifier is already listed, `diskFull`, or `catalogue` with the database's error; then no
    /// part of the batch is stored. Cancellation of the task has no effect.
    @discardableResult
    func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent]

    /// Makes all batches durable and releases all resources; idempotent.
    func close() async
}

extension DownloadStore {
    /// The index entries of all downloads, in list order.
    package func load() async throws(DownloadError) -> [IndexEntry] { try await load(.all) }

    /// At most `limit` rows that match the filter, starting at index `offset`, in list order.
    package func page(_ filter: RowFilter, offset: Int, limit: Int) async throws(DownloadError) -> [CatalogueRow] {
        try await page(filter, order: .queue, offset: offset, limit: limit)
    }

    /// The identifiers of all rows that match the filter, in list order.
    package func identifiers(_ filter: RowFilter) async throws(DownloadError) -> [DownloadID] {
        try await identifiers(filter, order: .queue)
    }

    /// Calls ``duplicates(of:session:)`` for downloads of any session.
    package func duplicates(of requests: [DownloadRequest]) async throws(DownloadError) -> [[DownloadID]] {
        try await duplicates(of: requests, session: nil)
    }

    /// Calls ``totals(session:)`` for all sessions.
    package func totals() async throws(DownloadError) -> StoreTotals { try await totals(session: nil) }

    /// Removes an event that the app has handled; the removal is durable on return.
    package func acknowledge(_ number: Int64) async throws(DownloadError) { try await commit([.acknowledge(number)]) }
}

/// One change of a store.
package enum StoreChange: Sendable, Hashable {
    /// Adds rows to the list: all of them, or none if an identifier is already listed.
    case insert([CatalogueRow])
    /// Sets fields of one download.
    case update(DownloadID, [RowField])
    /// Sets positions in the list.
    case keys([KeyChange])
    /// Stores the end of a run: state, date, file and the numbered event.
    case end(DownloadID, Ending)
    /// Appends to the download's history.
    case record(DownloadEvent)
    /// Removes downloads and their histories from the list; numbered events remain until they are acknowledged.
    case remove([DownloadID])
    /// Removes a numbered event that the app has handled.
    case acknowledge(Int64)
    /// Marks the list as complete: it is not rebuilt from journals at the next opening.
    case complete

    /// Maximum number of events in a download's history.
    package static let maxHistory = 50

    /// A download and its new position.
    package struct KeyChange: Sendable, Hashable {
        package var id: DownloadID
        package var key: QueueKey

        package init(_ id: DownloadID, _ key: QueueKey) {
            self.id = id
            self.key = key
        }
    }
}

/// The number of listed downloads and their bytes, by state; states without downloads are omitted.
package struct StoreTotals: Sendable, Hashable {
    package var counts: [StateKind: Int]
    /// The sums of ``CatalogueRow/completedBytes``.
    package var bytes: [StateKind: ByteCount]

    package init(counts: [StateKind: Int] = [:], bytes: [StateKind: ByteCount] = [:]) {
        self.counts = counts
        self.bytes = bytes
    }
}

/// An event that ended a download, kept until the app has acknowledged it.
package struct NumberedEvent: Sendable, Hashable {
    /// The number of the event. Numbers ascend in the order in which downloads ended, and are never reused.
    package var number: Int64
    package var session: String
    package var event: DownloadEvent

    package init(number: Int64, session: String, event: DownloadEvent) {
        self.number = number
        self.session = session
        self.event = event
    }
}
