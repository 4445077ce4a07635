/// A page of the list.
package struct DownloadPage: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    /// The number of downloads that match the query, on all pages.
    package var total: Int
    /// The index of the first item of this page.
    package var offset: Int

    package init(items: [ListedDownload], total: Int, offset: Int = 0) {
        self.items = items
        self.total = total
        self.offset = offset
    }
}

/// Several downloads, in the requested order.
package struct DownloadItems: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    package init(_ items: [ListedDownload]) { self.items = items }
}
