package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The lock of a state directory, which only one daemon can hold. Taken before a socket is bound; the system releases
/// it when the process ends.
///
/// The file's first line is the process identifier. Its second line is the socket, by which clients find a daemon that was started
/// with environment variables other than theirs (``DaemonSocket/path(environment:home:user:)``).
package final class DaemonLock: Sendable {
    private let descriptor: Int32
    /// The maximum number of bytes to read from the lock file.
    private static let mostBytes = 4096

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Unlocked before closing, because a child process being spawned may still share the open file description.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Takes the lock for a daemon at `socket`. Throws `conflict` with the identifier of the process that holds it.
    package static func take(_ path: String, socket: String = "") throws(DownloadError) -> DaemonLock {
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
        let text = Array("\(getpid())\n\(socket)\n".utf8)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return DaemonLock(descriptor)
    }

    /// Whether a daemon holds the lock.
    package static func isTaken(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Returns the process identifier in a lock file. That process may no longer exist.
    package static func owner(of path: String) -> Int? { PrivateFile(path, most: mostBytes).read().flatMap(owner(in:)) }

    private static func owner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return owner(in: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }

    /// Parses the first line.
    private static func owner(in text: String) -> Int? { Int(text.prefix { !$0.isNewline }) }
}
