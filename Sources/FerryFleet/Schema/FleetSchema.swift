/// The tables and functions of a fleet, in the schema `ferry` of the database. docs/fleet.md describes them.
///
/// Each migration has a name and runs once; `ferry.migration` has the names of those that ran. A migration that has been
/// released is never changed: a change is another one.
enum FleetSchema {
    struct Migration: Sendable {
        let name: String
        let statements: [String]
    }

    static let migrations = [lists, leases, results, hosts]

    /// What is there before the first migration.
    static let base = [
        "CREATE SCHEMA IF NOT EXISTS ferry",
        """
        CREATE TABLE IF NOT EXISTS ferry.migration (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())
        """,
    ]

    /// The number of rows of a lease. Part of the schema: leases are named by their first row.
    static let leaseRows: Int64 = 500
    /// The channel on which waiting workers are woken.
    static let channel = "ferry_work"
    /// The key of the advisory lock of migrations.
    static let migrationLock = 0x666C_6565
    /// The first key of the advisory locks of batches.
    static let batchLock = 0x6665_7272
}
