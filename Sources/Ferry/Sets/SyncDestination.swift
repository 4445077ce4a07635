public import FerryCore
import FerryEngine
import SystemPackage

/// Where the files of a set are kept.
public enum SyncDestination: Sendable, Hashable {
    /// A directory of this machine.
    case directory(String)
    /// The objects of a bucket whose keys begin with the key of an `s3` URL; a slash is added to it if it has none. A file
    /// that is not small is fetched into `staging`, a directory of this machine, and becomes an object when it is complete.
    case objects(DownloadURL, staging: String)

    /// The destination with absolute paths, and a prefix that ends with a slash.
    var absolute: SyncDestination {
        switch self {
        case .directory(let path): .directory(DownloadManager.absolute(path))
        case .objects(let prefix, let staging):
            .objects(
                prefix.path.utf8.last == UInt8(ascii: "/") ? prefix : prefix.appendingKey("/"),
                staging: DownloadManager.absolute(staging))
        }
    }
}

/// The place of a set during one sync: what it had at the start, and how it is changed. ``SyncPlan`` decides for all places.
protocol SyncPlace: Sendable {
    var plan: SyncPlan { get }
    /// The records of the last sync, by path.
    var earlier: [FilePath: FileRecord] { get }
    /// Directories that cannot be made: their files are incomplete.
    var failures: [FilePath: DownloadError] { get }

    /// Returns the path or URL of a file of the set.
    func name(of path: String) -> String
    /// Completes the request of a file: where it is put, and what it may replace.
    func complete(_ request: inout DownloadRequest, _ entry: SetEntry, _ cause: SyncPlan.Cause)
    /// Returns the record of a completed download. Blocks.
    func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord
    /// Deletes files of the set that are still the ones of their records.
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
    /// Whether the file is gone.
    var isDone: Bool
    /// Why the file could not be deleted; `nil` if it was changed, which is no failure.
    var problem: String?
}

extension SyncPlace {
    /// Returns what is known of a completed download, without what depends on the place.
    func commonRecord(of file: FinishedDownload, _ entry: SetEntry) -> FileRecord {
        var record = FileRecord(path: entry.path, urls: entry.sources.map { $0.with(nil).text })
        record.listedPath = entry.otherName
        (record.etag, record.lastModified, record.proof) = (file.etag, file.lastModified, file.proof)
        return record
    }
}
