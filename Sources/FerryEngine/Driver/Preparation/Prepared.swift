import FerryCore
import SystemPackage

/// The start of a run, as determined from the disk and the request only. ``Preparation`` creates it; the driver consumes it
/// once.
struct Prepared: Sendable {
    enum Start: Sendable {
        /// Nothing has to be fetched.
        case finished(FinishedDownload)
        /// The part file of an earlier run, locked like its journal, with its trusted bytes.
        case resume(PartSession, Held)
        /// The open partial file of another program. Samples decide whether it becomes the part file.
        case compare(ExistingFile, RangeSet<ByteCount>)
        /// No bytes are trusted; the server is first asked whether ``earlier`` is current.
        case fresh
        /// The run cannot start. The part file is the one that was opened before the failure.
        case failed(DownloadError, PartSession?)
    }

    /// The trusted bytes of a part file, in the form that the transfer needs.
    struct Held: Sendable, Hashable {
        let content: PartialContent
        let totalBytes: ByteCount?
        let weakestJoin: Proof?
        /// Whether the first URL has not sent any of the bytes.
        let isNewSource: Bool
        /// Whether samples must show that the bytes are still those that the journal claims.
        let isDoubtful: Bool
    }

    /// A finished file that may be the result.
    struct EarlierFile: Sendable, Hashable {
        let path: FilePath
        /// The validators in its attribute, for asking the server; `nil` if it has no usable ones.
        var identity: FileIdentity?
        /// The digest in its attribute.
        var checksum: Checksum?
    }

    /// The backup that the new file replaces once it is published.
    enum Backup: Sendable, Hashable {
        case absent
        /// A backup that this run made; the new pair gets these paths.
        case own(DownloadPaths, id: String?)
        /// A backup that an interrupted run of this download left.
        case found(DownloadPaths, id: String)

        /// The paths that belong to this download although no files exist there.
        var ownPaths: DownloadPaths? { if case .own(let paths, _) = self { paths } else { nil } }
        var foundPaths: DownloadPaths? { if case .found(let paths, _) = self { paths } else { nil } }
        var paths: DownloadPaths? { ownPaths ?? foundPaths }

        /// The id in the backup's journal.
        var id: String? {
            switch self {
            case .absent: nil
            case .own(_, let id): id
            case .found(_, let id): id
            }
        }
    }

    var start = Start.fresh
    /// First the source that sent the validators, then its mirrors.
    var sources: [DownloadURL]
    /// The file's name, final or expected.
    var name: String
    /// The journal's record. If there is no part file, the next record continues its upload and events.
    var record: JournalRecord?
    var backup = Backup.absent
    /// A file that contains only reserved space, no byte of the download; the finished file replaces it.
    var emptyHalf: PublishedFile?
    var earlier: EarlierFile?
    /// Whether the file with the final name may be torn: it was never synced, and the system has rebooted since.
    var isDistrusted = false
    var digest: ExpectedDigest
}
