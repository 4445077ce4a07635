import FerryCore
import Testing

@testable import Ferry

@Suite("Database", .timeLimit(.minutes(30)))
struct DatabaseTests {
    private static func withDatabase(_ body: (Database) throws -> Void) async throws {
        try await StoreBench.withDirectory { directory in
            let db = try Database(path: directory + "/test.sqlite")
            try db.execute("CREATE TABLE item (key TEXT PRIMARY KEY, value ANY) STRICT")
            try body(db)
            try db.close()
        }
    }

    private static func keys(_ db: Database) throws -> [String] {
        try db.all("SELECT key FROM item ORDER BY key") { row in try row[0] }
    }

    @Test("Database: values are read as they were bound, and NULL is nil")
    func values() async throws {
        try await Self.withDatabase { db in
            let arguments: Database.Arguments = [
                Int64.min, Int.max, -0.25, true, "é\u{1F680}", "", nil, nil as String?,
            ]
            for _ in 1...2 {
                let numbers = try db.first("SELECT ?, ?, ?, ?, ?, ?, ?, ?", arguments) { row in
                    (try row[0] as Int64, try row[1] as Int, try row[2] as Double, try row[3] as Bool)
                }
                #expect(try #require(numbers) == (.min, .max, -0.25, true))
                let texts: [String?]? = try db.first("SELECT ?, ?, ?, ?, ?, ?, ?, ?", arguments) { row in
                    [try row[4], try row[5], try row[6], try row[7]]
                }
                #expect(texts == ["é\u{1F680}", "", nil, nil])
            }
        }
    }

    @Test("Database: a value that is NULL, of another type, or too large is an error that names the column")
    func mismatches() async throws {
        try await Self.withDatabase { db in
            let sql = "SELECT NULL AS absent, 'x' AS text, 3000000000 AS large"
            try db.forEach(sql) { row in
                #expect(message { _ = try row[0] as Int } == "absent is not Int")
                #expect(message { _ = try row[1] as Double } == "text is not Double")
                #expect(message { _ = try row[2] as Int32 } == "large is not Int32")
                #expect(message { _ = try row[2] as String? } == "large is not Optional<String>")
                let large: Double = try row[2]
                #expect(large == 3e9)
            }
        }
    }

    @Test("Database: an error has the extended code and the message of SQLite, and the statement can run again")
    func errors() async throws {
        try await Self.withDatabase { db in
            let sql = "INSERT INTO item VALUES (?, 1)"
            try db.run(sql, ["a"])
            let error = #expect(throws: DatabaseError.self) { try db.run(sql, ["a"]) }
            #expect(error?.isOfPrimaryKey == true)
            #expect(error?.description == "SQLite 1555: UNIQUE constraint failed: item.key")
            try db.run(sql, ["b"])
            #expect(try Self.keys(db) == ["a", "b"])
            #expect(message { try db.run("SELECT absent") } == "no such column: absent")
            #expect(message { try db.run(sql, ["a", "b"]) } == "wrong number of arguments: 2")
            #expect(throws: DatabaseError.self) { try Database(path: "/absent/directory/x", .readOnly) }
        }
    }

    @Test("Database: a transaction or savepoint whose body throws is undone, and the next one succeeds")
    func transactions() async throws {
        let refusal = DatabaseError(code: 1, message: "refused")
        try await Self.withDatabase { db in
            let sql = "INSERT INTO item VALUES (?, 1)"
            let outer = message {
                try db.transaction {
                    try db.run(sql, ["lost"])
                    throw refusal
                }
            }
            #expect(outer == "refused")
            try db.transaction {
                try db.run(sql, ["a"])
                let inner = message {
                    try db.savepoint {
                        try db.run(sql, ["undone"])
                        throw refusal
                    }
                }
                #expect(inner == "refused")
                #expect(db.isInTransaction)
                try db.savepoint { try db.run(sql, ["b"]) }
            }
            #expect(!db.isInTransaction)
            #expect(try Self.keys(db) == ["a", "b"])
        }
    }

    @Test("Database: a query inside the same query has rows of its own")
    func nested() async throws {
        try await Self.withDatabase { db in
            for key in ["a", "b"] { try db.run("INSERT INTO item VALUES (?, 1)", [key]) }
            var pairs: [String] = []
            try db.forEach("SELECT key FROM item ORDER BY key") { row in
                let outer: String = try row[0]
                pairs += try Self.keys(db).map { outer + $0 }
            }
            #expect(pairs == ["aa", "ab", "ba", "bb"])
        }
    }

    @Test("Database: foreign keys are enforced, and a reader writes nothing")
    func access() async throws {
        try await StoreBench.withDirectory { directory in
            let path = directory + "/test.sqlite"
            let db = try Database(path: path)
            try db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a (id))")
            #expect(throws: DatabaseError.self) { try db.execute("INSERT INTO b VALUES (1)") }
            let reader = try Database(path: path, .readOnly)
            #expect(throws: DatabaseError.self) { try reader.execute("INSERT INTO a VALUES (1)") }
            try reader.close()
            try db.close()
        }
    }

    private func message(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? DatabaseError)?.message }
        return nil
    }
}
