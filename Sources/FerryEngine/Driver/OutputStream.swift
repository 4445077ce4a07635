import FerryCore
import Synchronization
import SystemPackage

/// A file descriptor that receives the file in order, with a running digest of the output.
final class OutputStream: Sendable {
    private let descriptor: Int32
    private let digest = Mutex<RunningDigest?>(nil)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Starts the digest; `nil` for none. Must be called before the first write.
    func follow(_ algorithm: DigestAlgorithm?) { digest.withLock { $0 = algorithm.map { RunningDigest($0) } } }

    func write(_ bytes: UnsafeRawBufferPointer, _ disk: Disk) throws(FileError) {
        do {
            try SystemPackage.FileDescriptor(rawValue: descriptor).writeAll(bytes)
        } catch let error as Errno {
            throw FileError(.write, "the output", errno: error.rawValue)
        } catch { throw FileError(.write, "the output", kind: .io) }
        digest.withLock { $0?.update(bytes) }
    }

    /// Returns the digest of all written bytes, or `nil` if none was requested.
    func finish() -> [UInt8]? { digest.withLock { $0?.finish() } }
}
