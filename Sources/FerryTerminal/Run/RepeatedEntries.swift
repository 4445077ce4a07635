import Ferry

/// The entries of a run that repeat one in progress. Each waits for the end of that one, because two downloads at once would
/// take two names. Pure.
///
/// A waiting entry keeps its slot of the ``SubmissionWindow``. So this table has no more entries than the window has slots,
/// however long the list is.
struct RepeatedEntries: Sendable {
    struct Item: Sendable {
        let request: DownloadRequest
        let place: ListPlace?
        let subject: ResultSubject?
    }

    /// What two entries of the same file have in common; their other options may differ.
    private struct Key: Hashable, Sendable {
        let source: DownloadURL
        let destination: DownloadRequest.Destination

        init?(_ request: DownloadRequest) {
            guard let source = request.sources.first else { return nil }
            (self.source, destination) = (source, request.destination)
        }
    }

    private var waiting: [Key: [Item]] = [:]

    /// Records that an entry is in progress. Returns false if it repeats another one in progress; it then waits for the end of
    /// that one.
    mutating func begin(_ item: Item) -> Bool {
        guard let key = Key(item.request) else { return true }
        guard waiting[key] == nil else {
            waiting[key]?.append(item)
            return false
        }
        waiting[key] = []
        return true
    }

    /// Records the end of an entry. Returns the entries that waited for it, in their order.
    mutating func end(_ request: DownloadRequest) -> [Item] {
        Key(request).flatMap { waiting.removeValue(forKey: $0) } ?? []
    }
}
