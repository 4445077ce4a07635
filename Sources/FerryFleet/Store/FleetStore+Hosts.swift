import FerryCore

/// Budgets of hosts.
extension FleetStore {
    /// Sets the budget of a host, or removes it if both limits are `nil`.
    ///
    /// - Parameters:
    ///   - rate: Starts per second.
    ///   - connections: Simultaneous files.
    func setBudget(of host: String, rate: Double?, connections: Int?) async throws(DatabaseError) {
        if rate == nil, connections == nil {
            _ = try await link.rows("DELETE FROM ferry.host WHERE name = $1", [host])
        } else {
            _ = try await link.rows(
                """
                INSERT INTO ferry.host (name, rate, connections) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET rate = excluded.rate, connections = excluded.connections
                """, [host, rate.map { "\($0)" }, connections.map { "\($0)" }])
        }
        _ = try await link.rows("SELECT pg_notify('\(FleetSchema.channel)', '')")
    }

    /// The names of all budgets.
    func budgets() async throws(DatabaseError) -> BudgetTable {
        let found = try await link.rows("SELECT name FROM ferry.host LIMIT \(BudgetTable.mostNames + 1)")
        guard found.rows.count <= BudgetTable.mostNames else {
            throw DatabaseError("there are more than \(BudgetTable.mostNames) budgets of hosts")
        }
        var names: Set<String> = []
        for row in found.rows { names.insert(try row.text(0)) }
        return BudgetTable(names)
    }

    /// Requests starts and connections of hosts, and returns the grants.
    func reserve(_ worker: Int64, _ wishes: [StartGate.Wish]) async throws(DatabaseError) -> [StartGate.Grant] {
        guard !wishes.isEmpty else { return [] }
        func list(_ texts: [String]) -> String { texts.joined(separator: " ") }
        let found = try await link.rows(
            """
            SELECT host, connections, starts, first, apart, now_is FROM ferry.reserve($1, string_to_array($2, ' '),
                string_to_array($3, ' '), string_to_array($4, ' ')::integer[], string_to_array($5, ' ')::integer[])
            """,
            [
                "\(worker)", list(wishes.map(\.host)), list(wishes.map(\.budget)), list(wishes.map { "\($0.wanted)" }),
                list(wishes.map { "\($0.running)" }),
            ], as: .reserve)
        var grants: [StartGate.Grant] = []
        for row in found.rows {
            let now = try row.seconds(5)
            grants.append(
                StartGate.Grant(
                    host: try row.text(0),
                    connections: row.optional(1) == nil ? nil : try row.number(1, in: 0...1 << 30),
                    starts: try row.number(2, in: 0...1 << 20),
                    delay: .seconds(max(0, try row.seconds(3) - now)),
                    apart: row.optional(4) == nil ? nil : .seconds(max(0, try row.seconds(4)))))
        }
        return grants
    }

    /// Releases the worker's connections to hosts from which it downloads no file.
    func release(_ worker: Int64, _ hosts: [String]) async throws(DatabaseError) {
        _ = try await link.rows(
            "SELECT ferry.release($1, string_to_array($2, ' '))",
            ["\(worker)", hosts.joined(separator: " ")])
    }

    /// Prevents all workers from starting files of a host for some time.
    func hold(_ host: String, for delay: Duration) async throws(DatabaseError) {
        _ = try await link.rows(
            "SELECT ferry.hold($1, make_interval(secs => $2))", [host, "\(min(86_400, delay.components.seconds))"])
    }
}
