import GRDB

/// The tables of a catalogue, and how they became what they are.
enum CatalogueSchema {
    /// Names the file as ours in its header: `Frry`.
    static let applicationID: Int32 = 0x4672_7279
    /// The version that this code writes into the header once the list has been looked for; larger ones are left alone.
    ///
    /// A catalogue that was just made has 0 there: what journals say of its downloads is not in it yet.
    static let version: Int32 = 1

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 downloads, events, history", migrate: makeTables)
        return migrator
    }

    private static func makeTables(_ db: Database) throws {
        let kinds = StateKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        try db.execute(
            sql: """
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

    /// Whether what journals say of the list is in it, or was there from the start.
    static func isComplete(_ db: Database) throws -> Bool {
        try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 > 0
    }

    /// The header is part of the transaction, as every page is.
    static func setComplete(_ db: Database) throws { try db.execute(sql: "PRAGMA user_version = \(version)") }
}
