/// How many downloads a store lists, and what they hold, by state; states that no download has are left out.
package struct StoreTotals: Sendable, Hashable {
    package var counts: [StateKind: Int]
    /// The sums of ``CatalogueRow/completedBytes``.
    package var bytes: [StateKind: ByteCount]

    package init(counts: [StateKind: Int] = [:], bytes: [StateKind: ByteCount] = [:]) {
        self.counts = counts
        self.bytes = bytes
    }
}
