/// The tables of a catalogue and their migrations.
enum CatalogueSchema {
    /// The application identifier in the file's header: `Frry`.
    static let applicationID: Int32 = 0x4672_7279
    /// The version in the header of a complete catalogue; files with a higher version are not opened.
    ///
    /// A new catalogue has version 0 until the downloads known from journals have been added.
    static let version: Int32 = 1

    /// The migrations, in order; the table `grdb_migrations` of a catalogue lists the migrations that were applied to it.
    static let migrations: [(name: String, apply: @Sendable (Database, _ downloads: String) throws -> Void)] = [
        ("1 downloads, events, history", { db, _ in try makeTables(db) }),
        ("2 one form", { db, _ in try joinForms(db) }),
        ("3 absolute paths", makePathsAbsolute),
    ]

    /// Applies the missing migrations, each in its own transaction. If `last` is given, stops after the migration with that name.
    ///
    /// `downloads` is the directory relative to which earlier versions stored paths.
    static func migrate(_ db: Database, downloads: String, upTo last: String? = nil) throws {
        try db.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let applied = try appliedMigrations(db)
        for migration in migrations {
            if !applied.contains(migration.name) {
                try db.transaction {
                    try migration.apply(db, downloads)
                    try db.run("INSERT INTO grdb_migrations (identifier) VALUES (?)", [migration.name])
                }
            }
            if migration.name == last { break }
        }
    }

    /// Whether a newer version has migrated the catalogue.
    static func isSuperseded(_ db: Database) throws -> Bool {
        try !appliedMigrations(db).isSubset(of: migrations.map(\.name))
    }

    private static func appliedMigrations(_ db: Database) throws -> Set<String> {
        let hasTable = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'") { _ in true } ?? false
        guard hasTable else { return [] }
        return Set(try db.all("SELECT identifier FROM grdb_migrations") { row in try row[0] })
    }

    /// Stores the whole state of a row in `details`, and moves the reasons of waits and the parts of a request to the top level
    /// of their JSON objects.
    private static func joinForms(_ db: Database) throws {
        try db.execute(
            """
            UPDATE download SET details = CASE
                WHEN state = 'failed' THEN json_object('state', state, 'error', json_extract(details, '$.error'))
                WHEN state = 'completed' THEN json_object('state', state, 'proof', json_extract(details, '$.proof'))
                WHEN state = 'paused' THEN
                    json_patch('{"state":"paused"}', json_object('pauseReason', json_extract(details, '$')))
                WHEN state LIKE 'waiting.%' THEN
                    json_patch(
                        json_object('state', 'waiting', 'waitReason', substr(state, 9)),
                        json_object('until', json_extract(details, '$.wait.at')))
                ELSE json_object('state', state)
            END;
            UPDATE history SET kind = json_patch(
                json_remove(kind, '$.wait'),
                json_object(
                    'waitReason', json_extract(kind, '$.wait.kind'), 'until', json_extract(kind, '$.wait.at')))
            WHERE json_extract(kind, '$.kind') = 'waiting';
            UPDATE download SET request = json_patch(
                json_patch(
                    json_patch(
                        json_remove(
                            request, '$.sources', '$.destination', '$.headers', '$.trust', '$.network'),
                        json_object(
                            'urls', json_extract(request, '$.sources'),
                            'headers', (
                                SELECT json_group_object(name, json(list)) FROM (
                                    SELECT name, json_group_array(value) AS list FROM (
                                        SELECT json_extract(value, '$[0]') AS name,
                                            json_extract(value, '$[1]') AS value
                                        FROM json_each(request, '$.headers') ORDER BY key)
                                    GROUP BY name)))),
                    json_patch(
                        json_remove(json_extract(request, '$.destination'), '$.file'),
                        json_object('path', json_extract(request, '$.destination.file')))),
                json_patch(
                    coalesce(json_extract(request, '$.trust'), '{}'),
                    coalesce(json_extract(request, '$.network'), '{}')));
            """)
    }

    private static func makeTables(_ db: Database) throws {
        let kinds = StateKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        try db.execute(
            """
            CREATE TABLE download (
                id TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
                session TEXT NOT NULL,
                priority INTEGER NOT NULL,
                position INTEGER NOT NULL,
                state TEXT NOT NULL CHECK (state IN (\(kinds))),
                details TEXT CHECK (details IS NULL OR json_valid(details)),
                completed INTEGER NOT NULL CHECK (completed >= 0),
                total INTEGER CHECK (total >= 0),
                attempts INTEGER NOT NULL CHECK (attempts >= 0),
                retryAt REAL,
                host TEXT NOT NULL,
                metered INTEGER CHECK (metered IN (0, 1)),
                constrained INTEGER CHECK (constrained IN (0, 1)),
                notBefore REAL,
                name TEXT NOT NULL,
                path TEXT CHECK (path <> ''),
                part TEXT CHECK (part <> ''),
                createdAt REAL NOT NULL,
                endedAt REAL,
                url TEXT NOT NULL,
                mirrors TEXT,
                place TEXT NOT NULL CHECK (place <> ''),
                request TEXT NOT NULL CHECK (json_valid(request)),
                label TEXT,
                userInfo TEXT CHECK (userInfo IS NULL OR json_valid(userInfo)),
                finished TEXT CHECK (finished IS NULL OR json_valid(finished)),
                published TEXT CHECK (published IS NULL OR json_valid(published)),
                announced TEXT CHECK (announced IS NULL OR json_valid(announced))
            ) STRICT;
            CREATE INDEX download_order ON download (priority DESC, position, id);
            CREATE INDEX download_url ON download (url, place);

            CREATE TABLE event (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                download TEXT NOT NULL,
                session TEXT NOT NULL,
                time REAL NOT NULL,
                kind TEXT NOT NULL CHECK (json_valid(kind))
            ) STRICT;

            CREATE TABLE history (
                number INTEGER PRIMARY KEY,
                download TEXT NOT NULL REFERENCES download (id) ON DELETE CASCADE,
                time REAL NOT NULL,
                kind TEXT NOT NULL CHECK (json_valid(kind))
            ) STRICT;
            CREATE INDEX history_download ON history (download, number);

            PRAGMA application_id = \(applicationID);
            """)
    }

    private static func makePathsAbsolute(_ db: Database, in downloads: String) throws {
        try db.execute("CREATE TABLE location (downloads TEXT NOT NULL, state TEXT NOT NULL) STRICT")
        let prefix = downloads.utf8.last == UInt8(ascii: "/") ? downloads : downloads + "/"
        try replacePaths(db, [downloads, prefix]) { path in
            "CASE WHEN \(path) = '.' THEN ?1 WHEN \(path) GLOB '/*' THEN \(path) ELSE ?2 || \(path) END"
        }
    }

    /// Replaces each path in the tables with the value of an SQL expression; `replacement` makes this expression from the
    /// path's expression.
    static func replacePaths(
        _ db: Database, _ arguments: Database.Arguments, _ replacement: (_ path: String) -> String
    ) throws {
        func replaced(_ column: String, _ members: [String]) -> String {
            let values = members.map { "'$.\($0)', " + replacement("json_extract(\(column), '$.\($0)')") }
            return "\(column) = json_replace(\(column), \(values.joined(separator: ", ")))"
        }
        // The path at the end of the text in `place`.
        let members = ["path", "directory", "part"]
        let target = "coalesce(\(members.map { "request ->> '$.\($0)'" }.joined(separator: ", ")))"
        try db.run(
            """
            UPDATE download SET path = \(replacement("path")), part = \(replacement("part")),
                place = substr(place, 1, length(place) - length(\(target))) || \(replacement(target)),
                \(replaced("request", members + ["root", "keptCopy.directory"])),
                \(["finished", "published", "announced"].map { replaced($0, ["path"]) }.joined(separator: ", "))
            """, arguments)
        for table in ["event", "history"] {
            try db.run("UPDATE \(table) SET \(replaced("kind", ["file.path"]))", arguments)
        }
    }

    /// Whether the downloads known from journals have been added.
    static func isComplete(_ db: Database) throws -> Bool {
        try number("user_version", db) > 0
    }

    /// Marks the catalogue as complete. The change is part of the current transaction, because the header lies on a database page.
    static func setComplete(_ db: Database) throws { try db.execute("PRAGMA user_version = \(version)") }

    /// A number in the header of the file.
    static func number(_ pragma: String, _ db: Database) throws -> Int32 {
        try db.first("PRAGMA \(pragma)") { row in try row[0] } ?? 0
    }
}
