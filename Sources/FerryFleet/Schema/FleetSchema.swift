/// The tables and functions of a fleet, in the schema `ferry` of the database. docs/fleet.md describes them.
///
/// Each migration has a name and runs once; `ferry.migration` contains the names of the completed migrations. A released migration
/// never changes; a change is a new migration.
enum FleetSchema {
    struct Migration: Sendable {
        let name: String
        let statements: [String]
    }

    static let migrations = [lists, leases, results, hosts, roles]

    /// The statements that run before the first migration.
    static let base = [
        "CREATE SCHEMA IF NOT EXISTS ferry",
        """
        CREATE TABLE IF NOT EXISTS ferry.migration (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())
        """,
    ]

    /// The functions of workers run with the rights of the tables' owner, so that the role of a worker needs no write access to
    /// tables.
    static let definer = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"

    /// Only the owner may call the functions until EXECUTE is granted to a role.
    private static let roles = Migration(
        name: "roles", statements: ["REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry FROM PUBLIC"])

    /// The number of rows of a lease. It is part of the schema, because leases are identified by their first row.
    static let leaseRows: Int64 = 500
    /// The channel that notifies waiting workers.
    static let channel = "ferry_work"
    /// The key of the advisory lock of migrations.
    static let migrationLock = 0x666C_6565
    /// The key of the advisory lock of removals.
    static let removalLock = 0x666C_726D
    /// The first key of the advisory locks of batches.
    static let batchLock = 0x6665_7272
}
