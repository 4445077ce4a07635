package import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The lock of a state directory: one daemon at a time. It is taken before a socket is bound, and the system takes it back
/// when the process ends, however it ends.
package final class DaemonLock: Sendable {
    private let descriptor: Int32
    /// What is read of its file.
    private static let mostBytes = 32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Before it is closed: a child process that is just being started has the same open file for a moment.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Takes it, or throws `conflict` with the process that has it.
    package static func take(_ path: String) throws(DownloadError) -> DaemonLock {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.failure(.open, path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let error = PrivateFile.failure(.lock, path)
            let owner = owner(descriptor)
            close(descriptor)
            guard isTaken else { throw error }
            throw DownloadError(
                .conflict,
                owner.map { ErrorPhrase(.anotherDaemonProcess, "\($0)", path) } ?? ErrorPhrase(.anotherDaemon, path),
                suggestion: ErrorPhrase(.useRunning), recovery: .needsUser)
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return DaemonLock(descriptor)
    }

    /// The process that a lock's file names; whether it still lives is another question.
    package static func owner(of path: String) -> Int? { PrivateFile.read(path, most: mostBytes).flatMap(owner(in:)) }

    private static func owner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return owner(in: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }

    /// The number in the first line.
    private static func owner(in text: String) -> Int? { Int(text.prefix { !$0.isNewline }) }
}
