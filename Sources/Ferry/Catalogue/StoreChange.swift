/// One change of a store.
package enum StoreChange: Sendable, Hashable {
    /// Lists rows: all, or none if an identifier is listed already.
    case insert([CatalogueRow])
    /// Sets fields of one download.
    case update(DownloadID, [RowField])
    /// Sets positions in the list.
    case keys([KeyChange])
    /// Ends a run: state, date, file and the numbered event.
    case end(DownloadID, Ending)
    /// Appends to the download's history.
    case record(DownloadEvent)
    /// Removes downloads and their histories from the list; numbered events stay until they are acknowledged.
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
