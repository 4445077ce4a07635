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
