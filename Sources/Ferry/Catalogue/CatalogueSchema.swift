import GRDB

/// The tables of a catalogue and their migrations.
enum CatalogueSchema {
    /// The application identifier in the file's header: `Frry`.
    static let applicationID: Int32 = 0x4672_7279
    /// The version in the header of a complete catalogue; files with a larger one are not opened.
    ///
    /// A new catalogue has 0: the downloads known from journals have not been added yet.
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

    /// Whether the downloads known from journals have been added.
    static func isComplete(_ db: Database) throws -> Bool {
        try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 > 0
    }

    /// Part of the transaction, as the header is on a database page.
    static func setComplete(_ db: Database) throws { try db.execute(sql: "PRAGMA user_version = \(version)") }
}
