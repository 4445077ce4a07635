import FerryCore
import SystemPackage

/// What a run begins with, as the disk and the request alone tell it. ``Preparation`` makes it; the driver takes it once.
struct Prepared: Sendable {
    enum Start: Sendable {
        /// Nothing has to be fetched.
        case finished(FinishedDownload)
        /// The part file of an earlier run, locked like its journal, with the bytes of it that count.
        case resume(PartSession, Held)
        /// The open half file of another program. Samples decide whether it becomes the part file.
        case compare(ExistingFile, RangeSet<ByteCount>)
        /// No byte counts; the server is asked first whether ``earlier`` is current.
        case fresh
        /// The run cannot begin. The part file is that which was opened before the failure.
        case failed(DownloadError, PartSession?)
    }

    /// The bytes of a part file that count, as the transfer needs them.
    struct Held: Sendable, Hashable {
        let content: PartialContent
        let totalBytes: ByteCount?
        let weakestJoin: Proof?
        /// Whether the first URL has not sent any of the bytes.
        let isNewSource: Bool
        /// Whether samples must show that the bytes are still those of the journal.
        let isDoubtful: Bool
    }

    /// A finished file that may be the result.
    struct EarlierFile: Sendable, Hashable {
        let path: FilePath
        /// Its validators according to its attribute, under which the server is asked; `nil` if there are none that count.
        var identity: FileIdentity?
        /// Its digest according to its attribute.
        var checksum: Checksum?
    }

    /// The backup that the new file replaces once it is published.
    enum Backup: Sendable, Hashable {
        case absent
        /// Another pair of this run, which had these paths, and gives them to the new one.
        case own(DownloadPaths, id: String?)
        /// A backup that an interrupted run of this download left.
        case found(DownloadPaths, id: String)

        /// The paths that belong to this download although they do not exist.
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
    /// The journal's record. Without a part file its upload and events go on in the next one.
    var record: JournalRecord?
    var backup = Backup.absent
    /// The file with no byte of the download, only space for it, that the finished one replaces.
    var emptyHalf: PublishedFile?
    var earlier: EarlierFile?
    /// Whether the file with the final name may be torn: it was never synced, and the system has rebooted since.
    var isDistrusted = false
    var digest: ExpectedDigest
}
