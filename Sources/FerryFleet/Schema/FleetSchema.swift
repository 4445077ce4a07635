/// The tables and functions of a fleet, in the schema `ferry` of the database. docs/fleet.md describes them.
///
/// Each migration has a name and runs once; `ferry.migration` has the names of those that ran. A migration that has been
/// released is never changed: a change is another one.
enum FleetSchema {
    struct Migration: Sendable {
        let name: String
        let statements: [String]
    }

    static let migrations = [lists, leases, results, hosts, roles]

    /// What is there before the first migration.
    static let base = [
        "CREATE SCHEMA IF NOT EXISTS ferry",
        """
        CREATE TABLE IF NOT EXISTS ferry.migration (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())
        """,
    ]

    /// The functions of workers run with the rights of the tables' owner, so that the role of a worker may call them and
    /// write to no table.
    static let definer = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"

    /// Nobody but the owner may call functions before a role is given them.
    private static let roles = Migration(
        name: "roles", statements: ["REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry FROM PUBLIC"])

    /// The number of rows of a lease. Part of the schema: leases are named by their first row.
    static let leaseRows: Int64 = 500
    /// The channel on which waiting workers are woken.
    static let channel = "ferry_work"
    /// The key of the advisory lock of migrations.
    static let migrationLock = 0x666C_6565
    /// The first key of the advisory locks of batches.
    static let batchLock = 0x6665_7272
}
