/// One change of what a store remembers.
package enum StoreChange: Sendable, Hashable {
    /// Lists these: all of them or, when an identifier is listed already, none.
    case insert([CatalogueRow])
    /// Gives fields of one download new values.
    case update(DownloadID, [RowField])
    /// New places in the list.
    case keys([KeyChange])
    /// The end of a run: state, time, file and the numbered event, all in one.
    case end(DownloadID, Ending)
    /// Adds to the download's history.
    case record(DownloadEvent)
    /// Takes downloads and their histories off the list; numbered events stay until they are acknowledged.
    case remove([DownloadID])
    /// The numbered event has been handled by the app.
    case acknowledge(Int64)
    /// What can be known of the list is in it: it is not made again from journals at the next opening.
    case complete

    /// How many events of a download are kept in its history.
    package static let maxHistory = 50

    /// A download and its new place.
    package struct KeyChange: Sendable, Hashable {
        package var id: DownloadID
        package var key: QueueKey

        package init(_ id: DownloadID, _ key: QueueKey) {
            self.id = id
            self.key = key
        }
    }
}
