import Ferry
import FerryCore

/// A batch whose list is being written, and the number of the connection that has its lock.
struct BatchWriting: Sendable {
    let batch: Int
    let connection: Int
}

/// Batches: adding, looking at them, and acting on them.
extension FleetStore {
    /// Creates a batch whose list is then written, or begins one again whose list was not read to its end. Holds an
    /// advisory lock until the connection ends, so that it has one writer: nothing of it is looked at or changed before.
    ///
    /// - Parameter partRows: The number of rows of a partition.
    func begin(_ name: String, directory: String, partRows: Int64) async throws(DatabaseError) -> BatchWriting {
        try await link.run { connection throws(DatabaseError) in
            let lock = try connection.rows(
                "SELECT pg_try_advisory_lock($1::integer, hashtext($2))", ["\(FleetSchema.batchLock)", name])
            guard try lock.one().truth(0) else { throw Self.exists(name) }
            let made = try connection.rows(
                """
                INSERT INTO ferry.batch (name, directory, state, part_rows) VALUES ($1, $2, 'adding', $3)
                ON CONFLICT (name) DO UPDATE SET directory = excluded.directory, part_rows = excluded.part_rows
                    WHERE ferry.batch.state = 'adding'
                RETURNING id
                """, [name, directory, "\(partRows)"])
            guard let row = made.rows.first else { throw Self.exists(name) }
            let id = try row.number(0, in: 1...Int(Int32.max))
            // What an earlier writer has left.
            let parts = try connection.rows(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    + "WHERE n.nspname = 'ferry' AND c.relkind = 'r' AND c.relname ~ ('^(entry|result)_' || $1 || '_[0-9]+$')",
                ["\(id)"])
            for part in parts.rows { _ = try connection.rows("DROP TABLE ferry.\(try part.text(0))") }
            return BatchWriting(batch: id, connection: connection.number)
        }
    }

    /// Runs `body` with the connection that has the lock of a batch; another one has no lock.
    private func run<Value: Sendable>(
        _ writing: BatchWriting,
        _ body: @escaping @Sendable (PostgresConnection) throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        try await link.run { connection throws(DatabaseError) in
            guard connection.number == writing.connection else {
                throw DatabaseError("the connection to the database was lost; start the command again")
            }
            return try body(connection)
        }
    }

    private static func exists(_ name: String) -> DatabaseError {
        DatabaseError("there is a batch \(name) already: give another name with --batch")
    }

    /// Stores rows in the text format of COPY. All of them are of one partition.
    ///
    /// - Parameter isNew: Whether it is their partition's first.
    func write(
        _ rows: [UInt8], of writing: BatchWriting, part: Int64, partRows: Int64, isNew: Bool
    ) async throws(DatabaseError) {
        let batch = writing.batch
        try await run(writing) { connection throws(DatabaseError) in
            if isNew {
                _ = try connection.rows(
                    "SELECT ferry.add_part($1, $2, $3)", ["\(batch)", "\(part)", "\(partRows)"])
            }
            try connection.copy("COPY ferry.entry_\(batch)_\(part) FROM STDIN", rows)
        }
    }

    /// Makes the index of a partition whose rows are written.
    func closePart(_ part: Int64, of writing: BatchWriting) async throws(DatabaseError) {
        let batch = writing.batch
        _ = try await run(writing) { connection throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                _ = try connection.rows("SET LOCAL statement_timeout = 0")
                return try connection.rows("SELECT ferry.close_part($1, $2)", ["\(batch)", "\(part)"])
            }
        }
    }

    /// Opens a batch whose list is written, and wakes the workers.
    func open(_ writing: BatchWriting, total: Int64) async throws(DatabaseError) {
        let batch = writing.batch
        try await run(writing) { connection throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                _ = try connection.rows(
                    """
                    CREATE SEQUENCE IF NOT EXISTS ferry.next_\(batch)
                        INCREMENT \(FleetSchema.leaseRows) MINVALUE 1 START 1 CACHE 1
                    """)
                _ = try connection.rows(
                    "UPDATE ferry.batch SET state = 'open', total = $2 WHERE id = $1", ["\(batch)", "\(total)"])
                _ = try connection.rows("SELECT pg_notify('\(FleetSchema.channel)', '')")
            }
        }
    }

    /// The batches in the order of their addition.
    ///
    /// - Parameter name: Only the batch of this name; `nil` for all.
    package func status(_ name: String?) async throws(DatabaseError) -> [BatchStatus] {
        let found = try await link.rows(
            """
            SELECT id, name, state, directory, total, completed, failed, leased, waiting FROM ferry.progress
            WHERE $1::text IS NULL OR name = $1 ORDER BY id
            """, [name])
        if let name, found.rows.isEmpty { throw Self.missing(name) }
        var all: [BatchStatus] = []
        for row in found.rows {
            let batch = try FleetBatch(row, from: 0)
            let counts = Int64.min >> 1...Int64.max >> 1
            all.append(
                BatchStatus(
                    name: batch.name, state: batch.state.rawValue, directory: batch.directory, total: batch.total,
                    completed: try row.number(5, in: counts), failed: try row.number(6, in: counts),
                    leased: try row.number(7, in: counts), waiting: try row.number(8, in: counts)))
        }
        return all
    }

    static func missing(_ name: String) -> DatabaseError { DatabaseError("there is no batch \(name)", state: "P0002") }

    /// The identifiers of one batch, or of all.
    func identifiers(_ name: String?) async throws(DatabaseError) -> [Int] {
        let found = try await link.rows(
            "SELECT id FROM ferry.batch WHERE $1::text IS NULL OR name = $1 ORDER BY id", [name])
        if let name, found.rows.isEmpty { throw Self.missing(name) }
        var all: [Int] = []
        for row in found.rows { all.append(try row.number(0, in: 1...Int(Int32.max))) }
        return all
    }

    /// Moves batches from some states to another, and wakes the workers. Returns how many.
    func move(_ name: String?, from states: [FleetBatch.State], to state: FleetBatch.State) async throws(DatabaseError)
        -> Int
    {
        _ = try await identifiers(name)
        let moved = try await link.rows(
            """
            WITH moved AS (
                UPDATE ferry.batch SET state = $2 WHERE ($1::text IS NULL OR name = $1)
                    AND state = ANY (string_to_array($3, ',')) RETURNING id)
            SELECT count(*), pg_notify('\(FleetSchema.channel)', '') FROM moved
            """, [name, state.rawValue, states.map(\.rawValue).joined(separator: ",")])
        return try moved.one().number(0, in: 0...Int.max >> 1)
    }

    /// Requests failed files again. Returns how many.
    ///
    /// - Parameter reasons: Words of ``FailureReason`` and HTTP statuses; `nil` for every failure.
    func retry(_ batch: Int, reasons: [String]?) async throws(DatabaseError) -> Int64 {
        try await link.rows(
            "SELECT ferry.retry($1, string_to_array($2, ','))", ["\(batch)", reasons?.joined(separator: ",")]
        ).one().number(0)
    }

    /// Removes a batch with its rows and results, not its files.
    func remove(_ batch: Int) async throws(DatabaseError) {
        _ = try await link.rows("UPDATE ferry.batch SET state = 'removing' WHERE id = $1", ["\(batch)"])
        _ = try await link.rows("SELECT ferry.remove($1)", ["\(batch)"])
    }

    /// Whether no batch has a row that a worker could still fetch.
    func isDone() async throws(DatabaseError) -> Bool {
        try await link.rows("SELECT ferry.is_done()").one().truth(0)
    }

    /// Drops what is no longer needed, if its time has come.
    func tidy() async throws(DatabaseError) { _ = try await link.rows("SELECT ferry.tidy()") }
}
