import FerryCore

/// A lease: a range of rows that only this worker downloads.
struct FleetLease: Sendable, Hashable {
    /// Differs each time the range is leased. Results carry it, so that results of an earlier holder are refused.
    let number: Int64
    /// The number of its first row.
    let first: Int64
    let batch: FleetBatch

    /// The number of its last row.
    var last: Int64 { min(first + FleetSchema.leaseRows - 1, batch.total) }
}

/// The identity of a row.
struct RowKey: Sendable, Hashable {
    let batch: Int
    /// The number of the row in its batch, from 1.
    let number: Int64
}

/// The result of a row's file, which the database does not have yet.
struct FleetResult: Sendable, Hashable {
    let key: RowKey
    let lease: Int64
    /// The members of a ``ResultLine``.
    let line: String
}
