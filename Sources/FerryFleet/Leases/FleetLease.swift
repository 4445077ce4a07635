import FerryCore

/// A lease: a range of rows that this worker alone fetches.
struct FleetLease: Sendable, Hashable {
    /// Different for each taking of the range. Results carry it, so that those of an earlier holder are refused.
    let number: Int64
    /// The number of its first row.
    let first: Int64
    let batch: FleetBatch

    /// The number of its last row.
    var last: Int64 { min(first + FleetSchema.leaseRows - 1, batch.total) }
}

/// What identifies a row.
struct RowKey: Sendable, Hashable {
    let batch: Int
    /// From 1.
    let number: Int64
}

/// The end of a row's file, which the database does not have yet.
struct FleetResult: Sendable, Hashable {
    let key: RowKey
    let lease: Int64
    /// The members of a ``ResultLine``.
    let line: String
}
