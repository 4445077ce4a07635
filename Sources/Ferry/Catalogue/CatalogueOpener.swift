import Dispatch
import FerryCore
package import FerryEngine
import SystemPackage

/// Opens a catalogue: prepares its directory, takes its lock, checks the file's header, opens and checks the database, and applies
/// the migrations. Blocks.
struct CatalogueOpener: Sendable {
    let location: CatalogueLocation
    let fileSystem: any FileSystem
    let metrics: ManagerMetrics
    let report: @Sendable (DownloadError) -> Void

    private var state: FilePath { FilePath(location.state) }

    var path: FilePath { state.appending(Catalogue.fileName) }

    func open() throws -> Catalogue.Opening {
        try PrivateDirectory(path: state, fileSystem: fileSystem).prepare()
        let lock = try StateLock.take(state.appending("lock"), fileSystem)
        var damaged: FilePath?
        if try !headerIsFine() { damaged = try moveAside() }
        try prepareFile()
        let database: Database
        do {
            database = try openDatabase()
        } catch is Damage {
            damaged = try moveAside()
            try prepareFile()
            database = try openDatabase()
        }
        let isComplete = try CatalogueSchema.isComplete(database)
        // Makes the name of a new file durable before its contents are relied on.
        try? fileSystem.syncDirectory(state)
        let catalogue = Catalogue(
            path: path.string, database: DatabaseQueue(database, metrics), lock: lock, report: report)
        return Catalogue.Opening(catalogue: catalogue, isNew: !isComplete, damaged: damaged?.string)
    }

    /// The file is not a usable database.
    private struct Damage: Error {}

    // MARK: The file

    /// Creates a missing file with mode 0600; SQLite gives its companion files the same mode. Removes the permissions of the group
    /// and of other users from an existing file.
    private func prepareFile() throws {
        guard let status = try fileSystem.statusIfPresent(path) else {
            return try fileSystem.create(path, mode: 0o600).close()
        }
        guard status.kind == .regular else { throw isNoCatalogue(.noFile) }
        if status.mode & 0o077 != 0 {
            let file = try fileSystem.open(path, .readOnly)
            defer { file.close() }
            try file.setMode(0o600)
        }
    }

    /// Checks the header without opening the database, which would modify the file. Returns false if the header is damaged;
    /// throws if the file belongs to another program or to a newer version of Ferry.
    private func headerIsFine() throws -> Bool {
        guard let status = try fileSystem.statusIfPresent(path), status.kind == .regular, status.length > 0 else {
            return true
        }
        let file = try fileSystem.open(path, .readOnly)
        defer { file.close() }
        guard status.length >= 100 else { return false }
        let header = try file.read(0..<100)
        guard header.starts(with: "SQLite format 3\0".utf8) else { return false }
        try check(version: number(header, at: 60), application: number(header, at: 68))
        return true
    }

    private func number(_ header: [UInt8], at offset: Int) -> Int32 {
        Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }

    private func check(version: Int32, application: Int32) throws {
        guard application == 0 || application == CatalogueSchema.applicationID else {
            throw isNoCatalogue(.foreignFile)
        }
        if version > CatalogueSchema.version { throw isNewer }
    }

    /// Renames the database and its companion files to unused names.
    private func moveAside() throws -> FilePath {
        // Move the companion files first, because the next opening would delete a journal whose database is missing.
        let suffixes = ["-wal", "-shm", ""]
        var number = 1
        // No other process can use a name meanwhile, because this process holds the lock.
        while try suffixes.contains(where: { try fileSystem.exists(asidePath(number, $0)) }) { number += 1 }
        for suffix in suffixes {
            let from = FilePath(path.string + suffix)
            if try fileSystem.exists(from) { try move(from, to: asidePath(number, suffix)) }
        }
        try? fileSystem.syncDirectory(state)
        return asidePath(number, "")
    }

    private func asidePath(_ number: Int, _ suffix: String) -> FilePath {
        FilePath("\(Catalogue.damagedPrefix(of: path.string))\(number)\(suffix)")
    }

    private func move(_ from: FilePath, to path: FilePath) throws(FileError) {
        do throws(FileError) {
            try fileSystem.rename(from, to: path, replacing: false)
        } catch  where error.kind == .unsupported {
            if try fileSystem.exists(path) { throw FileError(.rename, from, kind: .exists) }
            try fileSystem.rename(from, to: path, replacing: true)
        }
    }

    // MARK: The database

    private func openDatabase() throws -> Database {
        do {
            let database = try Database(path: path.string)
            try database.execute(
                """
                PRAGMA synchronous = FULL;
                PRAGMA fullfsync = ON;
                PRAGMA checkpoint_fullfsync = ON;
                PRAGMA cache_size = -8192;
                PRAGMA journal_size_limit = 4194304;
                PRAGMA cell_size_check = ON;
                """)
            try check(database)
            try database.execute("PRAGMA journal_mode = WAL")
            try CatalogueSchema.migrate(database, downloads: location.downloads)
            try database.transaction { try location.store(database, fileSystem) }
            return database
        } catch let error as DatabaseError where error.isOfDamage {
            throw Damage()
        }
    }

    private func check(_ db: Database) throws {
        let application = try CatalogueSchema.number("application_id", db)
        try check(version: CatalogueSchema.number("user_version", db), application: application)
        if try CatalogueSchema.isSuperseded(db) { throw isNewer }
        // After a crash, the database may contain only the table of migrations.
        let isEmpty =
            try db.first("SELECT 1 FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'") { _ in false } ?? true
        guard application == CatalogueSchema.applicationID || isEmpty else { throw isNoCatalogue(.foreignFile) }
        let isSound: Bool? = try db.first("PRAGMA quick_check(1)") { row in try row[0] == "ok" }
        guard isSound == true else { throw Damage() }
    }

    private var isNewer: DownloadError {
        DownloadError(
            .catalogue, ErrorPhrase(.newerCatalogue, "\(path)"),
            suggestion: ErrorPhrase(.useNewer), recovery: .needsUser)
    }

    private func isNoCatalogue(_ why: ErrorPhrase.Key) -> DownloadError {
        DownloadError(.catalogue, ErrorPhrase(.noCatalogue, "\(path)", ErrorPhrase(why)), recovery: .needsUser)
    }
}

extension Catalogue {
    /// An opened catalogue, and its condition before it was opened.
    package struct Opening: Sendable {
        package let catalogue: Catalogue
        /// Whether the catalogue was missing or unusable, so that the list may have to be rebuilt from journals. Remains true
        /// at every opening until ``StoreChange/complete`` has been stored.
        package let isNew: Bool
        /// The path to which a damaged catalogue was moved; `nil` if it was not damaged.
        package let damaged: String?

        /// A message for the user; `nil` if there was no problem.
        package var note: String? {
            damaged.map { "the catalogue \(catalogue.path) was damaged; it has been moved to \($0)" }
        }
    }

    /// The file name of the database in its state directory.
    package static let fileName = "catalogue.sqlite"
    /// The name of a damaged database that was moved aside, without the number at its end.
    static func damagedPrefix(of name: String) -> String { "\(name).damaged-" }

    /// The paths of the damaged databases in a state directory, ordered by number. Blocks.
    package static func damaged(in directory: String) -> [String] {
        let prefix = damagedPrefix(of: fileName)
        let names = (try? EngineProvider.fileSystem.list(FilePath(directory))) ?? []
        let numbers = names.compactMap { name in
            name.dropping(prefix: prefix).flatMap { Int($0) }
        }
        return numbers.sorted().map { Paths.join(directory, prefix + "\($0)") }
    }

    /// Opens or creates the catalogue in a state directory, and locks the directory.
    ///
    /// `directory` is the absolute path of the state directory, which is created with mode 0700 if it is missing. `downloads` is
    /// the absolute path of the default directory for downloads; if that directory was moved since the last opening, the stored
    /// paths are updated. `report` receives errors of submitted batches and of entries that cannot be applied or read. Throws
    /// `catalogue` and changes no file if the catalogue is already open in this or another process, if it was created by a newer
    /// version of Ferry, or if the file is not a catalogue. A damaged catalogue is renamed, with its companion files.
    package static func open(
        // allow(single-place): the list has a queue of its own.
        directory: String, downloads: String, fileSystem: any FileSystem = LocalFileSystem(),
        metrics: ManagerMetrics = ManagerMetrics(),
        report: @escaping @Sendable (DownloadError) -> Void = { _ in }
    ) async throws(DownloadError) -> Opening {
        let opener = CatalogueOpener(
            location: CatalogueLocation(state: directory, downloads: downloads), fileSystem: fileSystem,
            metrics: metrics, report: report)
        let result: Result<Opening, DownloadError> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                do {
                    continuation.resume(returning: .success(try opener.open()))
                } catch {
                    let error = DownloadError(error, catalogue: opener.path.string, doing: .catalogueOpening)
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
