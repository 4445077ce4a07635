import FerryCore
import NIOCore
import SystemPackage

/// Where the bytes of a download go until they are a finished file.
///
/// | sink | holds the bytes | after a kill |
/// |---|---|---|
/// | ``MemorySink`` | in memory, at most 1 MiB | lost |
/// | ``PartSession`` | in a part file with a journal | those that the journal claims |
/// | ``StreamSink`` | nowhere: another program has them | lost |
/// | ``ExaminedFile`` | in an existing file, which is compared and never written | as they were |
///
/// Connections write to disjoint ranges, and may do so at the same time. All other calls of a run exclude each other by
/// ``DownloadDriver/lock``, or come after all connections have ended.
protocol Sink: AnyObject, Sendable {
    /// Whether bytes that were written can be fetched and written again.
    var isRewritable: Bool { get }

    /// Writes bytes. Returns `false`, without any change, if that needs a disk and there is none.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool

    /// Returns bytes that were written, for samples; `nil` if they cannot be read.
    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]?

    /// Makes all bytes whose writes have returned durable, and claims those of the statement. Returns `false` if a kill
    /// would lose them all the same.
    func checkpoint(_ statement: JournalStatement, _ disk: Disk) throws(ClaimFailure) -> Bool

    /// Returns once no later run counts a byte that the statement leaves out.
    func retract(to statement: JournalStatement, _ disk: Disk) throws(DownloadError)

    /// Gives up the content because the server has another file now. Returns the backup that the new file replaces, which
    /// is ``Prepared/Backup/absent`` if that of another download is in the way; `nil` if there was nothing to keep, so that an
    /// earlier backup stays the one.
    ///
    /// - Parameter owner: The downloads whose backup may be replaced.
    func setAside(
        _ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk
    ) throws(DownloadError) -> Prepared.Backup?

    /// Gives up the content, and removes the files of the download. Files that it did not make stay.
    func discard(_ disk: Disk) throws(DownloadError)

    /// Closes files, which releases their locks; removes nothing. Later writes throw.
    func close(_ disk: Disk)
}

extension Sink {
    /// Writes a part of `piece`, likewise.
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

/// Why written bytes could not be claimed.
enum ClaimFailure: Error {
    /// It is not known which of the bytes are on the disk: a second sync would succeed without those that this one lost.
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

/// What a run knows about its file, as the journal is to have it.
struct JournalStatement: Sendable {
    /// The bytes that count once they are synced.
    var claimed: RangeSet<ByteCount>
    var isComplete: Bool
    /// Whether the link is new and not yet proven to lead to this file. What the journal has of the old link stays then.
    var isLinkUnproven: Bool
    /// What the list says of the download; `nil` changes nothing.
    var tags: JournalTags?
    /// The URLs that were given, first the one that sent the validators.
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
    /// Takes the statement of a run.
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
