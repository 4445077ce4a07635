import FerryCore
import FerryTerminal

/// Taking, holding and ending leases.
extension FleetStore {
    /// Registers this worker. Returns its identifier.
    func join(key: String, name: String) async throws(DatabaseError) -> Int64 {
        try await link.rows("SELECT ferry.join($1, $2)", [key, name]).one().number(0)
    }

    /// The SQLSTATE of ferry.beat for a worker that ferry.tidy has removed.
    static let noSuchWorker = "P0002"

    /// Sends a heartbeat. Returns the leases that the worker holds for `lasting` from now on, and the database's time in seconds
    /// since 1970.
    func beat(_ worker: Int64, lasting: Duration) async throws(DatabaseError) -> ([FleetLease], Double) {
        let held = try await link.rows(
            """
            SELECT b.number, b.first, b.batch, b.name, b.state, b.directory, b.total,
                extract(epoch FROM clock_timestamp())
            FROM (SELECT) AS one LEFT JOIN ferry.beat($1, make_interval(secs => $2)) AS b ON true
            """,
            ["\(worker)", "\(lasting.components.seconds)"], as: .beat)
        guard let time = held.rows.first else { throw .unusable }
        let seconds = try time.seconds(7)
        guard held.rows.count <= LeaseMachine.mostHeld else { throw .unusable }
        var leases: [FleetLease] = []
        for row in held.rows where row.optional(0) != nil {
            let batch = try FleetBatch(row, from: 2)
            let lease = FleetLease(
                number: try row.number(0, in: 1...Int64.max >> 1), first: try row.number(1, in: 1...Int64.max >> 1),
                batch: batch)
            guard lease.first <= batch.total, lease.first % FleetSchema.leaseRows == 1 else { throw .unusable }
            leases.append(lease)
        }
        return (leases, seconds)
    }

    /// Takes a lease. Returns false if there is none; the next heartbeat returns the lease.
    func claim(_ worker: Int64) async throws(DatabaseError) -> Bool {
        try await !link.rows("SELECT ferry.claim($1)", ["\(worker)"], as: .claim).rows.isEmpty
    }

    /// Returns the rows of a lease that have no result. For an unusable row, ``FleetRow/problem`` is the reason.
    func rows(of lease: FleetLease, within bounds: WorkerBounds) async throws(DatabaseError) -> [FleetRow] {
        let found = try await link.rows(
            """
            SELECT e.number, e.urls, e.checksum FROM ferry.entry e
            WHERE e.batch = $1::integer AND e.number BETWEEN $2::bigint AND $3::bigint AND NOT EXISTS (
                SELECT 1 FROM ferry.result r WHERE r.batch = $1::integer AND r.number = e.number)
            ORDER BY e.number
            """, ["\(lease.batch.id)", "\(lease.first)", "\(lease.last)"], as: .rows)
        guard found.rows.count <= FleetSchema.leaseRows else { throw .unusable }
        var rows: [FleetRow] = []
        for row in found.rows {
            let number = try row.number(0, in: lease.first...lease.last)
            rows.append(
                FleetRow(
                    lease, number: number, urls: try row.text(1), checksum: row.optional(2), within: bounds))
        }
        return rows
    }

    /// Ends a lease. Returns false if some of its rows have no result.
    func finish(_ worker: Int64, _ lease: Int64) async throws(DatabaseError) -> Bool {
        try await link.rows("SELECT ferry.finish($1, $2)", ["\(worker)", "\(lease)"], as: .finish).one().truth(0)
    }

    /// Removes a worker from the fleet. Other workers can take its leases immediately.
    func leave(_ worker: Int64) async throws(DatabaseError) {
        _ = try await link.rows("SELECT ferry.leave($1)", ["\(worker)"])
    }
}
