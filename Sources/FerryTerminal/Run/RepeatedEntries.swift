import Ferry

/// The entries of a run that repeat an entry in progress. Each waits for that entry to end, because two downloads of a file at
/// the same time would get two names. Pure.
///
/// A waiting entry keeps its slot of the ``SubmissionWindow``. So this table has no more entries than the window has slots,
/// however long the list is.
struct RepeatedEntries: Sendable {
    struct Item: Sendable {
        let request: DownloadRequest
        let place: ListPlace?
        let subject: ResultSubject?
    }

    /// The properties that two entries of the same file have in common; their other options may differ.
    private struct Key: Hashable, Sendable {
        let source: DownloadURL
        let destination: DownloadRequest.Destination

        init?(_ request: DownloadRequest) {
            guard let source = request.sources.first else { return nil }
            (self.source, destination) = (source, request.destination)
        }
    }

    private var waiting: [Key: [Item]] = [:]

    /// Records that an entry is in progress. Returns false if it repeats another entry in progress, for whose
    /// end it then waits.
    mutating func begin(_ item: Item) -> Bool {
        guard let key = Key(item.request) else { return true }
        guard waiting[key] == nil else {
            waiting[key]?.append(item)
            return false
        }
        waiting[key] = []
        return true
    }

    /// Records the end of an entry. Returns the entries that waited for it, in order of arrival.
    mutating func end(_ request: DownloadRequest) -> [Item] {
        Key(request).flatMap { waiting.removeValue(forKey: $0) } ?? []
    }
}
