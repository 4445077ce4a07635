import FerryCore
import NIOCore
import SystemPackage

/// The storage for the bytes of a download until they are a finished file.
///
/// | sink | where the bytes are | after a kill |
/// |---|---|---|
/// | ``MemorySink`` | in memory, at most 1 MiB | lost |
/// | ``PartSession`` | in a part file with a journal | the claimed bytes remain |
/// | ``StreamSink`` | nowhere: another program has received them | lost |
/// | ``ExaminedFile`` | in an existing file, which is compared and never written | unchanged |
///
/// Connections write to disjoint ranges, possibly at the same time. All other calls of a run are mutually exclusive by
/// ``DownloadDriver/lock``, or follow the end of all connections.
protocol Sink: AnyObject, Sendable {
    /// Whether written bytes can be fetched and written again.
    var isRewritable: Bool { get }

    /// Writes bytes. Returns `false`, without any change, if this needs a disk and there is none.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool

    /// Returns written bytes, for samples; `nil` if they cannot be read.
    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]?

    /// Makes all bytes whose writes have returned durable, and claims the bytes of the statement. Returns `false` if
    /// this kind of storage has no journal and its bytes cannot be claimed.
    func checkpoint(_ statement: JournalStatement, _ disk: Disk) throws(ClaimFailure) -> Bool

    /// Returns once no later run will trust a byte that the statement does not claim.
    func retract(to statement: JournalStatement, _ disk: Disk) throws(DownloadError)

    /// Abandons the content because the server's file has changed. Returns the backup that the new file replaces:
    /// ``Prepared/Backup/absent`` if the backup of another download is in the way; `nil` if there was nothing to keep, so that
    /// an earlier backup remains.
    ///
    /// - Parameter owner: The downloads whose backup may be replaced.
    func setAside(
        _ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk
    ) throws(DownloadError) -> Prepared.Backup?

    /// Abandons the content and removes the files of the download, except files that it did not create.
    func discard(_ disk: Disk) throws(DownloadError)

    /// Closes files, which releases their locks; removes nothing. Later writes throw.
    func close(_ disk: Disk)
}

extension Sink {
    /// Writes a part of `piece`; returns `false` like the method above.
    func write(
        _ piece: ByteBuffer, _ part: Range<Int>, at offset: ByteCount, _ disk: Disk?
    ) throws(FileError) -> Bool {
        // `withUnsafeReadableBytes` does not propagate typed errors, so pass the error out as a `Result`.
        let result: Result<Bool, FileError> = piece.withUnsafeReadableBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[part])
            do throws(FileError) { return .success(try write(bytes, at: offset, disk)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// The sink of a run.
enum Place: Sendable {
    case memory(MemorySink)
    case part(PartSession)
    case stream(StreamSink)
    case examined(ExaminedFile)

    var sink: any Sink {
        switch self {
        case .memory(let sink): sink
        case .part(let sink): sink
        case .stream(let sink): sink
        case .examined(let sink): sink
        }
    }
}

/// The reason why written bytes could not be claimed.
enum ClaimFailure: Error {
    /// It is not known which of the bytes are on the disk: a second sync would succeed without the bytes that this one lost.
    case sync(FileError)
    case journal(JournalError)
    case other(DownloadError)

    var error: DownloadError {
        switch self {
        case .sync(let error): DownloadError(error)
        case .journal(let error): DownloadError(error)
        case .other(let error): error
        }
    }
}

/// A run's knowledge about its file, in the form that the journal stores.
struct JournalStatement: Sendable {
    /// The bytes that the journal claims once they are synced.
    var claimed: RangeSet<ByteCount>
    var isComplete: Bool
    /// Whether the link is new and not yet proven to lead to this file. The journal then keeps its values of the old link.
    var isLinkUnproven: Bool
    /// The list attributes of the download; `nil` changes nothing.
    var tags: JournalTags?
    /// The given URLs, starting with the one that sent the validators.
    var urls: [String]
    var totalBytes: ByteCount?
    var identity: FileIdentity
    /// The requested digest.
    var checksum: Checksum?
    /// The digest that the server declared.
    var offered: Checksum?
    var weakestJoin: Proof?
}

extension JournalRecord {
    /// Applies the statement of a run.
    mutating func take(_ statement: JournalStatement) {
        take(statement.tags)
        claimed = statement.claimed.pairs
        if !statement.isComplete { mismatch = nil }
        publishing = nil
        if statement.isLinkUnproven { return }
        var seen: Set<String> = []
        urls = Array(
            (statement.urls + urls).filter { seen.insert($0).inserted }.prefix(DownloadRequest.mostSources))
        totalBytes = statement.totalBytes
        identity = statement.identity
        checksum = statement.checksum?.description
        offered = statement.offered?.description
        weakestJoin = statement.weakestJoin
    }
}
