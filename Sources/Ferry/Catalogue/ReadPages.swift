/// Pages and counts of the list as they were read, for as long as nothing is written: who shows a list reads it again and
/// again.
struct ReadPages {
    struct Page: Hashable {
        let filter: RowFilter
        let order: RowOrder
        let offset: Int
        let limit: Int
    }

    /// How many rows are kept in all; larger pages are not.
    static let mostRows = 1000
    private static let mostCounts = 64

    /// What the connection had written when these were read.
    private var changes = 0
    private var pages: [Page: [CatalogueRow]] = [:]
    private var counts: [RowFilter: Int] = [:]
    private var rowCount = 0

    /// The rows of a page that was read, when nothing was written since. `changes` is the connection's count of them.
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
        // An empty page counts too.
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
