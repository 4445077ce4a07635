import FerryCore
import FerryTerminal

/// Results: appended by workers, read by `ferry fleet results`.
extension FleetStore {
    /// Appends results. Results of leases that this worker no longer holds are not stored, because their rows belong to another
    /// worker. Returns the number of new results.
    func append(_ results: [FleetResult]) async throws(DatabaseError) -> Int64 {
        let lines = results.map { "{\"number\":\($0.key.number),\"lease\":\($0.lease),\"line\":\($0.line)}" }
        return try await link.rows(
            "SELECT ferry.append($1::json)", ["[\(lines.joined(separator: ","))]"], as: .append
        ).one().number(0)
    }

    /// Result lines of a batch as stored, in the order of the list.
    struct Page: Sendable {
        var lines: [String] = []
        /// The number of the last row.
        var last: Int64 = 0
    }

    /// Returns the lines after a row; none at the end.
    func results(_ batch: Int, after number: Int64, failedOnly: Bool) async throws(DatabaseError) -> Page {
        let found = try await link.rows(
            """
            SELECT number, line FROM ferry.result
            WHERE batch = $1::integer AND number > $2::bigint AND (NOT $3::boolean OR status <> 'ok')
            ORDER BY number LIMIT 2000
            """, ["\(batch)", "\(number)", "\(failedOnly)"])
        var page = Page()
        for row in found.rows {
            page.last = max(page.last, try row.number(0))
            // Keeps the result on one line, even if another program has written it.
            let bytes = try row.text(1).utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
            page.lines.append(String(decoding: bytes, as: UTF8.self))
        }
        return page
    }
}
