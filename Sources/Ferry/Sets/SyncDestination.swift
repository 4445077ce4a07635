public import FerryCore
import FerryEngine
import SystemPackage

/// The destination of a set.
public enum SyncDestination: Sendable, Hashable {
    /// A local directory.
    case directory(String)
    /// The objects of a bucket whose keys begin with the key of an `s3` URL. A slash is appended to the key if it does not end
    /// with one. A file that is not small is fetched into `staging`, a local directory, and stored as an object when it is
    /// complete.
    case objects(DownloadURL, staging: String)

    /// The destination with absolute, normalized paths, and a prefix that ends with a slash.
    var normalized: SyncDestination {
        switch self {
        case .directory(let path): .directory(DownloadManager.normalized(path))
        case .objects(let prefix, let staging):
            .objects(
                prefix.path.utf8.last == UInt8(ascii: "/") ? prefix : prefix.appendingKey("/"),
                staging: DownloadManager.normalized(staging))
        }
    }
}

/// The place of a set during one sync: its state at the start, and the operations that change it. ``SyncPlan`` makes the
/// decisions for all kinds of places.
protocol SyncPlace: Sendable {
    var plan: SyncPlan { get }
    /// The records of the last sync, by path.
    var earlier: [FilePath: FileRecord] { get }
    /// Directories that cannot be created or written to, whose files are incomplete, and files whose path cannot be cleared.
    var failures: [FilePath: DownloadError] { get }
    /// The deletions that had to precede the requests; see ``SyncPlan/cleared``.
    var cleared: [SyncDeletion] { get }

    /// Returns the path or URL of a file of the set.
    func name(of path: String) -> String
    /// Sets the destination of the request for a file, and the conditions for replacing an existing one.
    func complete(_ request: inout DownloadRequest, _ entry: SetEntry, _ cause: SyncPlan.Cause)
    /// Returns the record of a completed download. Blocks.
    func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord
    /// Deletes the files of the set that still match their records.
    func delete(_ records: [FileRecord]) async -> [SyncDeletion]
    /// Replaces the records of the set in one step, and closes the open manifest.
    ///
    /// - Parameter errors: Why files are not complete, by path.
    func replace(
        _ manifest: Manifest, by records: [FileRecord], errors: [FilePath: DownloadError]
    ) async throws(DownloadError)
}

/// The outcome of deleting a file of a set.
struct SyncDeletion: Sendable {
    var record: FileRecord
    /// Whether the file no longer exists.
    var isDone: Bool
    /// Why the file could not be deleted; `nil` if it was kept because it had changed, which is not a failure.
    var problem: String?
}

extension SyncPlace {
    /// Returns the record of a completed download, without the fields that depend on the place.
    func commonRecord(of file: FinishedDownload, _ entry: SetEntry) -> FileRecord {
        var record = FileRecord(path: entry.path, urls: entry.urls)
        record.listedPath = entry.otherName
        (record.etag, record.lastModified, record.proof) = (file.etag, file.lastModified, file.proof)
        return record
    }
}
