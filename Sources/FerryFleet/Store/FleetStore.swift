import Ferry
import FerryCore

/// The statements of a fleet. Every value that is read is checked, because other programs may write to the database.
package struct FleetStore: Sendable {
    let link: PostgresLink

    package init(_ link: PostgresLink) { self.link = link }

    /// Creates and migrates the schema. Returns the names of the migrations that ran.
    package func migrate() async throws(DatabaseError) -> [String] {
        try await link.run { connection throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                _ = try connection.rows("SELECT pg_advisory_xact_lock($1::bigint)", ["\(FleetSchema.migrationLock)"])
                for statement in FleetSchema.base { _ = try connection.rows(statement) }
                let present = try connection.rows("SELECT name FROM ferry.migration").rows.map { $0.optional(0) ?? "" }
                try Self.checkIsKnown(present)
                var ran: [String] = []
                for migration in FleetSchema.migrations {
                    let isNew = try connection.rows(
                        "INSERT INTO ferry.migration (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name",
                        [migration.name])
                    guard !isNew.rows.isEmpty else { continue }
                    for statement in migration.statements { _ = try connection.rows(statement) }
                    ran.append(migration.name)
                }
                return ran
            }
        }
    }

    /// Throws for a schema that a newer version has changed, because this version does not know the meaning of its tables.
    static func checkIsKnown(_ migrations: [String]) throws(DatabaseError) {
        let known = FleetSchema.migrations.map(\.name)
        guard migrations.allSatisfy(known.contains) else {
            throw DatabaseError("the fleet's tables are from a newer version of ferry: use it on every worker")
        }
    }

    /// Checks that the schema exists and has the migrations of this version.
    package func checkSchema() async throws(DatabaseError) {
        let missing: DatabaseError
        do throws(DatabaseError) {
            let names = try await link.rows("SELECT name FROM ferry.migration").rows.map { $0.optional(0) ?? "" }
            try Self.checkIsKnown(names)
            if FleetSchema.migrations.allSatisfy({ names.contains($0.name) }) { return }
            missing = DatabaseError("the fleet's tables are of an older version: run ferry fleet init")
        } catch {
            // undefined_table, invalid_schema_name
            guard error.state == "42P01" || error.state == "3F000" else { throw error }
            missing = DatabaseError("the database has no tables of a fleet: run ferry fleet init")
        }
        throw missing
    }
}

extension PostgresConnection {
    /// Runs `body` in a transaction.
    func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        _ = try rows("BEGIN")
        do throws(DatabaseError) {
            let value = try body()
            _ = try rows("COMMIT")
            return value
        } catch {
            if !isBroken { _ = try? rows("ROLLBACK") }
            throw error
        }
    }
}
