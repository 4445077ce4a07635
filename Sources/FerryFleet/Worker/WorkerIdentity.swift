import Ferry
import FerryCore
import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The state directory of a worker, locked by one process at a time. The database recognises the worker by the key in the
/// directory, so that a restarted process continues with the leases of a killed one.
final class WorkerIdentity: Sendable {
    /// The absolute path of the directory, which also contains the catalogue.
    let directory: String
    let key: String
    /// Locked while the process lives.
    private let descriptor: Int32

    private static let keyBytes = 16
    private static let file = "worker"

    /// Opens or creates the directory. Blocks the calling thread.
    init(_ directory: String) throws(UsageError) {
        self.directory = OwnProgram.absolute(directory)
        do {
            try FileManager.default.createDirectory(
                atPath: self.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw UsageError("--state \(directory): the directory cannot be created") }
        // The list in the directory contains paths to write to, which another user must not be able to choose.
        guard let parent = Self.status(at: self.directory), Self.isOwn(parent, S_IFDIR) else {
            throw UsageError("--state \(directory): the directory is not yours alone")
        }
        let path = Paths.join(self.directory, Self.file)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw UsageError("--state \(directory): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Self.isOwn(status, S_IFREG) else {
            close(descriptor)
            throw UsageError("--state \(directory): the directory is not yours alone")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw UsageError("--state \(directory): another ferry work is running there")
        }
        var bytes = [UInt8](repeating: 0, count: 2 * Self.keyBytes)
        if pread(descriptor, &bytes, bytes.count, 0) == bytes.count, bytes.allSatisfy(Self.isDigit) {
            key = String(decoding: bytes, as: UTF8.self)
            return
        }
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let new = (0..<2 * Self.keyBytes).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }
        guard pwrite(descriptor, new, new.count, 0) == new.count, fsync(descriptor) == 0 else {
            close(descriptor)
            throw UsageError("--state \(directory): \(String(cString: strerror(errno)))")
        }
        key = String(decoding: new, as: UTF8.self)
    }

    deinit { close(descriptor) }

    /// Returns the status of a file, or of a symbolic link itself.
    private static func status(at path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Whether a file is of this kind and of this user, and others cannot write to it.
    private static func isOwn(_ status: stat, _ kind: mode_t) -> Bool {
        status.st_mode & S_IFMT == kind && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte || 0x61...0x66 ~= byte }

    /// The default directory of the workers of a database.
    static func standard(for address: DatabaseAddress, environment: [String: String]) -> String {
        StateDirectory.fleet(String(SHA256Text.hex(address.identity.utf8).prefix(16)), environment)
    }
}
