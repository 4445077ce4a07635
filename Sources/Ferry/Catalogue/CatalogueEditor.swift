/// Applies changes to an open database, inside the caller's transaction.
enum CatalogueEditor {
    /// Applies the changes in order. Returns the numbered events of the downloads that ended.
    static func apply(_ changes: [StoreChange], _ db: Database) throws -> [NumberedEvent] {
        var events: [NumberedEvent] = []
        for change in changes {
            switch change {
            case .insert(let rows): try insert(rows, db)
            case .update(let id, let fields):
                for case .file(let file, _) in fields { try follow(file, of: id, db) }
                try update(id, try fields.flatMap(CatalogueColumns.assignments), db)
            case .keys(let changes):
                for change in changes { try set(change, db) }
            case .end(let id, let ending):
                if let event = try end(id, ending, db) { events.append(event) }
            case .record(let event):
                try record(event, try kind(event), db)
            case .remove(let ids):
                for id in ids { try db.run("DELETE FROM download WHERE id = ?", [id.rawValue]) }
            case .acknowledge(let number):
                try db.run("DELETE FROM event WHERE number = ?", [number])
            case .complete: try CatalogueSchema.setComplete(db)
            }
        }
        return events
    }

    private static func insert(_ rows: [CatalogueRow], _ db: Database) throws {
        for row in rows {
            let assignments = try CatalogueColumns.assignments(row)
            let names = assignments.map(\.column).joined(separator: ", ")
            let marks = assignments.map { _ in "?" }.joined(separator: ", ")
            do {
                try db.run("INSERT INTO download (\(names)) VALUES (\(marks))", assignments.map(\.value))
            } catch let error as DatabaseError where error.isOfPrimaryKey {
                throw DownloadError.isListed(row.id)
            }
        }
    }

    private static func update(_ id: DownloadID, _ assignments: [CatalogueColumns.Assignment], _ db: Database) throws {
        guard !assignments.isEmpty else { return }
        let list = assignments.map { "\($0.column) = ?" }.joined(separator: ", ")
        try db.run("UPDATE download SET \(list) WHERE id = ?", assignments.map(\.value) + [id.rawValue])
    }

    private static func set(_ change: StoreChange.KeyChange, _ db: Database) throws {
        try db.run(
            "UPDATE download SET priority = ?, position = ? WHERE id = ?",
            [change.key.priority, change.key.position, change.id.rawValue])
    }

    private static func end(_ id: DownloadID, _ ending: Ending, _ db: Database) throws -> NumberedEvent? {
        try update(id, try CatalogueColumns.assignments(ending), db)
        guard db.changesCount > 0 else { return nil }
        let event = DownloadEvent(id: id, date: ending.date, kind: ending.event)
        let text = try kind(event)
        try record(event, text, db)
        guard ending.isNumbered else { return nil }
        let session: String =
            try db.first("SELECT session FROM download WHERE id = ?", [id.rawValue]) { row in try row[0] } ?? ""
        try db.run(
            "INSERT INTO event (download, session, time, kind) VALUES (?, ?, ?, ?)",
            [id.rawValue, session, event.date.storedSeconds, text])
        return NumberedEvent(number: db.lastInsertedRowID, session: session, event: event)
    }

    /// Updates the path of a moved file in the unacknowledged events of its download. Must be called before the row is updated.
    private static func follow(_ file: FinishedDownload, of id: DownloadID, _ db: Database) throws {
        try db.run(
            """
            UPDATE event SET kind = json_replace(kind, '$.file.path', ?1)
            WHERE download = ?2 AND json_extract(kind, '$.file.path') =
                (SELECT json_extract(finished, '$.path') FROM download WHERE id = ?2)
            """, [file.path, id.rawValue])
    }

    private static func record(_ event: DownloadEvent, _ kind: String, _ db: Database) throws {
        let id = event.id.rawValue
        try db.run(
            "INSERT INTO history (download, time, kind) SELECT id, ?, ? FROM download WHERE id = ?",
            [event.date.storedSeconds, kind, id])
        try db.run(
            """
            DELETE FROM history WHERE download = ?1 AND number <= (
                SELECT number FROM history WHERE download = ?1 ORDER BY number DESC
                LIMIT 1 OFFSET \(StoreChange.maxHistory))
            """, [id])
    }

    private static func kind(_ event: DownloadEvent) throws -> String {
        try StoredText.text(LocalizedEvent(event.kind, reason: event.reason))
    }
}
