/// A page of the list.
package struct DownloadPage: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    /// How many there are that pass the filter, on all pages.
    package var total: Int
    /// The number of the first one here.
    package var offset: Int

    package init(items: [ListedDownload], total: Int, offset: Int = 0) {
        self.items = items
        self.total = total
        self.offset = offset
    }
}

/// Several downloads, in the order that was asked for.
package struct DownloadItems: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    package init(_ items: [ListedDownload]) { self.items = items }
}
