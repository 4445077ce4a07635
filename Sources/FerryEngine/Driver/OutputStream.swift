import FerryCore
import Synchronization
import SystemPackage

/// A file descriptor that takes the file in order, and the digest of what went there.
final class OutputStream: Sendable {
    private let descriptor: Int32
    private let digest = Mutex<RunningDigest?>(nil)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// From the first byte on, the digest is computed; `nil` for none. Called before anything is written.
    func follow(_ algorithm: DigestAlgorithm?) { digest.withLock { $0 = algorithm.map { RunningDigest($0) } } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        do {
            try SystemPackage.FileDescriptor(rawValue: descriptor).writeAll(bytes)
        } catch let error as Errno {
            throw FileError(.write, "the output", errno: error.rawValue)
        } catch { throw FileError(.write, "the output", kind: .io) }
        digest.withLock { $0?.update(bytes) }
    }

    /// The digest of all that was written; `nil` when none was asked for.
    func finish() -> [UInt8]? { digest.withLock { $0?.finish() } }
}
