import Ferry
import FerryCore

/// A batch whose list is being written, and the number of the connection that holds its lock.
struct BatchWriting: Sendable {
    let batch: Int
    let connection: Int
}

/// Adding, querying and changing batches.
extension FleetStore {
    /// Creates a batch whose list is then written, or restarts a batch whose list was not read to its end. Takes an advisory lock
    /// before it reads or changes the batch, and holds the lock until the connection ends, so that the batch has one writer.
    ///
    /// - Parameter partRows: The number of rows of a partition.
    func begin(
        _ name: String, directory: String, partRows: Int64, priority: Int
    ) async throws(DatabaseError) -> BatchWriting {
        try await link.run { connection throws(DatabaseError) in
            let lock = try connection.rows(
                "SELECT pg_try_advisory_lock($1::integer, hashtext($2))", ["\(FleetSchema.batchLock)", name])
            guard try lock.one().truth(0) else { throw Self.exists(name) }
            let made = try connection.rows(
                """
                INSERT INTO ferry.batch (name, directory, state, part_rows, priority) VALUES ($1, $2, 'adding', $3, $4)
                ON CONFLICT (name) DO UPDATE SET directory = excluded.directory, part_rows = excluded.part_rows,
                    priority = excluded.priority WHERE ferry.batch.state = 'adding'
                RETURNING id
                """, [name, directory, "\(partRows)", "\(priority)"])
            guard let row = made.rows.first else { throw Self.exists(name) }
            let id = try row.number(0, in: 1...Int(Int32.max))
            // Parts that an earlier writer has left.
            try Self.dropParts(of: id, connection)
            return BatchWriting(batch: id, connection: connection.number)
        }
    }

    /// Runs `body` with the connection that holds the lock of a batch. Throws if it was replaced by a new connection, which has no
    /// lock.
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

    /// Removes a batch whose list was not read to its end. No worker has used it.
    func abandon(_ writing: BatchWriting) async throws(DatabaseError) {
        let batch = writing.batch
        try await run(writing) { connection throws(DatabaseError) in
            try Self.dropParts(of: batch, connection)
            _ = try connection.rows("DELETE FROM ferry.batch WHERE id = $1 AND state = 'adding'", ["\(batch)"])
        }
    }

    /// Drops the tables of a batch. Waits for readers of the partitioned tables, and for transactions that have read them, but from
    /// PostgreSQL 14 on blocks no other statement. DROP TABLE of an attached partition would block them all.
    private static func dropParts(of batch: Int, _ connection: PostgresConnection) throws(DatabaseError) {
        let parts = try connection.rows("SELECT name, parent FROM ferry.parts($1)", ["\(batch)"])
        let version = try connection.rows("SHOW server_version_num").one().number(0)
        for part in parts.rows {
            let name = try part.text(0)
            if let parent = part.optional(1) {
                // Before version 14, DETACH blocks all other statements for a moment.
                let way = version >= 140_000 ? "CONCURRENTLY" : ""
                if way.isEmpty { _ = try connection.rows("SELECT set_config('lock_timeout', '1s', false)") }
                _ = try connection.rows("ALTER TABLE ferry.\(parent) DETACH PARTITION ferry.\(name) \(way)")
            }
            _ = try connection.rows("DROP TABLE ferry.\(name)")
        }
    }

    /// Completes the detaching of a partition that an interrupted removal of any batch has begun. Until then no other partition of
    /// its table can be detached.
    private static func finishDetaching(_ connection: PostgresConnection) throws(DatabaseError) {
        let pending = try connection.rows("SELECT name, parent FROM ferry.pending_parts()")
        for part in pending.rows {
            let (name, parent) = (try part.text(0), try part.text(1))
            _ = try connection.rows("ALTER TABLE ferry.\(parent) DETACH PARTITION ferry.\(name) FINALIZE")
        }
    }

    private static func exists(_ name: String) -> DatabaseError {
        DatabaseError("there is a batch \(name) already: give another name with --batch")
    }

    /// Stores rows in the text format of COPY. All rows belong to one partition.
    ///
    /// - Parameter isNew: Whether they are the first rows of their partition.
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

    /// Creates the index of a partition after its rows were written.
    func closePart(_ part: Int64, of writing: BatchWriting) async throws(DatabaseError) {
        let batch = writing.batch
        _ = try await run(writing) { connection throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                _ = try connection.rows("SET LOCAL statement_timeout = 0")
                return try connection.rows("SELECT ferry.close_part($1, $2)", ["\(batch)", "\(part)"])
            }
        }
    }

    /// Opens a batch after its list was written, and notifies the workers.
    func open(_ writing: BatchWriting, total: Int64, partRows: Int64) async throws(DatabaseError) {
        let batch = writing.batch
        try await run(writing) { connection throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                for part in 0...(total - 1) / partRows {
                    _ = try connection.rows(
                        "SELECT ferry.open_part($1, $2, $3)", ["\(batch)", "\(part)", "\(partRows)"])
                }
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

    /// Returns the status of the batches, in the order in which they were added.
    ///
    /// - Parameter name: Only the batch of this name; `nil` for all.
    package func status(_ name: String?) async throws(DatabaseError) -> [BatchStatus] {
        let found = try await link.rows(
            """
            SELECT id, name, state, directory, total, completed, failed, leased, waiting, rate, seconds_left, priority
            FROM ferry.progress WHERE $1::text IS NULL OR name = $1 ORDER BY id
            """, [name])
        if let name, found.rows.isEmpty { throw Self.missing(name) }
        var all: [BatchStatus] = []
        for row in found.rows {
            let batch = try FleetBatch(row, from: 0)
            let counts = Int64.min >> 1...Int64.max >> 1
            let failed = try row.number(6, in: counts)
            var reasons: [BatchStatus.Failures] = []
            if failed > 0 { reasons = try await failures(batch.id) }
            all.append(
                BatchStatus(
                    name: batch.name, state: batch.state.rawValue, directory: batch.directory,
                    priority: try row.integer(11), total: batch.total,
                    completed: try row.number(5, in: counts), failed: failed, leased: try row.number(7, in: counts),
                    waiting: try row.number(8, in: counts),
                    rowsPerSecond: row.optional(9) == nil ? nil : try row.seconds(9),
                    secondsLeft: row.optional(10) == nil ? nil : try row.seconds(10),
                    failures: reasons))
        }
        return all
    }

    /// The reasons for a batch's failed files, the most frequent first.
    private func failures(_ batch: Int) async throws(DatabaseError) -> [BatchStatus.Failures] {
        var all: [BatchStatus.Failures] = []
        for row in try await link.rows("SELECT reason, status, files FROM ferry.failures($1)", ["\(batch)"]).rows {
            all.append(
                BatchStatus.Failures(
                    reason: row.optional(0) ?? "", httpStatus: row.optional(1).flatMap { Int($0) },
                    files: try row.number(2)))
        }
        return all
    }

    /// The workers, those with the most recent heartbeat first.
    package func workers() async throws(DatabaseError) -> [WorkerStatus] {
        let found = try await link.rows(
            """
            SELECT w.name, extract(epoch FROM clock_timestamp() - w.seen), w.until > clock_timestamp(), count(l.worker)
            FROM ferry.worker w LEFT JOIN ferry.lease l ON l.worker = w.id WHERE w.key <> 'nobody'
            GROUP BY w.id ORDER BY w.seen DESC, w.id
            """)
        var all: [WorkerStatus] = []
        for row in found.rows {
            all.append(
                WorkerStatus(
                    name: try row.text(0), secondsSilent: max(0, try row.seconds(1)), holdsLeases: try row.truth(2),
                    leases: try row.number(3)))
        }
        return all
    }

    static func missing(_ name: String) -> DatabaseError { DatabaseError("there is no batch \(name)", state: "P0002") }

    /// The identifier of one batch, or the identifiers of all.
    func identifiers(_ name: String?) async throws(DatabaseError) -> [Int] {
        let found = try await link.rows(
            "SELECT id FROM ferry.batch WHERE $1::text IS NULL OR name = $1 ORDER BY id", [name])
        if let name, found.rows.isEmpty { throw Self.missing(name) }
        var all: [Int] = []
        for row in found.rows { all.append(try row.number(0, in: 1...Int(Int32.max))) }
        return all
    }

    /// The identifiers of the batches whose rows all ended at least this long ago, and of those whose removal was interrupted.
    func identifiers(doneFor age: Duration) async throws(DatabaseError) -> [Int] {
        let found = try await link.rows(
            """
            SELECT b.id FROM ferry.batch b LEFT JOIN ferry.done d ON d.batch = b.id GROUP BY b.id
            HAVING b.state = 'removing' OR b.state <> 'adding' AND sum(d.completed + d.failed) = b.total
                AND max(d.at) <= now() - make_interval(secs => $1) ORDER BY b.id
            """, ["\(age.components.seconds)"])
        var all: [Int] = []
        for row in found.rows { all.append(try row.number(0, in: 1...Int(Int32.max))) }
        return all
    }

    /// Changes the priority of a batch for future leases.
    func set(priority: Int, of name: String) async throws(DatabaseError) {
        let found = try await link.rows(
            "UPDATE ferry.batch SET priority = $2 WHERE name = $1 RETURNING id", [name, "\(priority)"])
        if found.rows.isEmpty { throw Self.missing(name) }
    }

    /// Moves batches from any of the given states to another, and notifies the workers. Returns the number of moved batches.
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

    /// Requests failed files again. Returns their number, and the number of failed files in ranges that have not ended.
    ///
    /// - Parameter reasons: Words of ``FailureReason`` and HTTP statuses; `nil` for every failure.
    func retry(_ batch: Int, reasons: [String]?) async throws(DatabaseError) -> (requested: Int64, left: Int64) {
        let row = try await link.rows(
            "SELECT dropped, kept FROM ferry.retry($1, string_to_array($2, ','))",
            ["\(batch)", reasons?.joined(separator: ",")]
        ).one()
        return (try row.number(0), try row.number(1))
    }

    /// Removes a batch with its rows and results, but not its files. After an error, the next call removes the rest.
    func remove(_ batch: Int) async throws(DatabaseError) {
        try await link.run { connection throws(DatabaseError) in
            // Held until the connection ends. Two commands would detach the same partitions.
            let lock = try connection.rows("SELECT pg_try_advisory_lock($1::bigint)", ["\(FleetSchema.removalLock)"])
            guard try lock.one().truth(0) else {
                throw DatabaseError(
                    "another command removes batches: run the command again once it has ended", isTransient: true)
            }
            do throws(DatabaseError) {
                try Self.finishDetaching(connection)
                _ = try connection.rows("SELECT ferry.forget($1)", ["\(batch)"])
                try Self.dropParts(of: batch, connection)
            } catch {
                guard error.isTimeout else { throw error }
                throw DatabaseError(
                    "a transaction that has read the lists or results is still open: run the command again once it has ended",
                    isTransient: true)
            }
            _ = try connection.rows("DELETE FROM ferry.batch WHERE id = $1", ["\(batch)"])
        }
    }

    /// Whether no batch has a row that a worker could still fetch.
    func isDone() async throws(DatabaseError) -> Bool {
        try await link.rows("SELECT ferry.is_done()").one().truth(0)
    }

    /// Drops data that is no longer needed, at most once a minute.
    func tidy() async throws(DatabaseError) { _ = try await link.rows("SELECT ferry.tidy()") }
}
