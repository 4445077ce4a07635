import FerryCore
import Synchronization
import SystemPackage

/// A file descriptor that receives the file in order, with a running digest of the output.
final class StreamSink: Sink {
    private let descriptor: Int32
    private let digest = Mutex<RunningDigest?>(nil)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    var isRewritable: Bool { false }

    /// Starts the digest; `nil` for none. Must be called before the first write.
    func follow(_ algorithm: DigestAlgorithm?) { digest.withLock { $0 = algorithm.map { RunningDigest($0) } } }

    /// Returns the digest of all written bytes, or `nil` if none was requested.
    func finish() -> [UInt8]? { digest.withLock { $0?.finish() } }

    /// Writes bytes, which must be the next ones.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        guard disk != nil else { return false }
        do {
            try SystemPackage.FileDescriptor(rawValue: descriptor).writeAll(bytes)
        } catch let error as Errno {
            throw FileError(.write, "the output", errno: error.rawValue)
        } catch { throw FileError(.write, "the output", kind: .io) }
        digest.withLock { $0?.update(bytes) }
        return true
    }

    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? { nil }

    /// The reader of the stream already has the bytes.
    func checkpoint(_ statement: JournalStatement, _ disk: Disk) -> Bool { true }

    func retract(to statement: JournalStatement, _ disk: Disk) {}

    func setAside(
        _ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk
    ) throws(DownloadError) -> Prepared.Backup? {
        throw DownloadError(.notResumable, ErrorPhrase(.streamBroke, reason))
    }

    func discard(_ disk: Disk) {}

    /// Leaves the descriptor open, because the caller owns it.
    func close(_ disk: Disk) {}
}
