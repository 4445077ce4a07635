/// A cache of pages and counts of the list, which are read repeatedly while the list is displayed. The cache is valid until the
/// next write.
struct ReadPages {
    struct Page: Hashable {
        let filter: RowFilter
        let order: RowOrder
        let offset: Int
        let limit: Int
    }

    /// Maximum total number of cached rows; larger pages are not cached.
    static let mostRows = 1000
    private static let mostCounts = 64

    /// The connection's change count when the cache was filled.
    private var changes = 0
    private var pages: [Page: [CatalogueRow]] = [:]
    private var counts: [RowFilter: Int] = [:]
    private var rowCount = 0

    /// Returns the cached rows of a page; `nil` if the page is not cached, or if the connection has written since it was cached.
    /// `changes` is the connection's current change count.
    mutating func rows(of page: Page, at changes: Int) -> [CatalogueRow]? {
        renew(changes)
        return pages[page]
    }

    mutating func count(of filter: RowFilter, at changes: Int) -> Int? {
        renew(changes)
        return counts[filter]
    }

    mutating func keep(_ rows: [CatalogueRow], of page: Page) {
        guard rows.count <= Self.mostRows else { return }
        if rowCount + rows.count > Self.mostRows { (pages, rowCount) = ([:], 0) }
        pages[page] = rows
        // Count an empty page too, so that the number of pages is bounded.
        rowCount += max(1, rows.count)
    }

    mutating func keep(_ count: Int, of filter: RowFilter) {
        if counts.count >= Self.mostCounts { counts = [:] }
        counts[filter] = count
    }

    private mutating func renew(_ changes: Int) {
        guard changes != self.changes else { return }
        self.changes = changes
        (pages, counts, rowCount) = ([:], [:], 0)
    }
}
