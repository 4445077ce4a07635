import CFerry
public import FerryCore

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

/// A small private file: mode 0600, replaced atomically, in a directory of mode 0700.
///
/// Reading and writing have the same limit: a text that could not be read back is not written, and the file stays as it was.
public struct PrivateFile: Sendable {
    let path: String
    /// The maximum size in bytes.
    let mostBytes: Int

    /// - Parameter most: The maximum size in bytes.
    public init(_ path: String, most: Int) { (self.path, mostBytes) = (path, most) }

    /// Returns the text; `nil` if the file is missing, larger than the maximum, or not UTF-8, or if it is not a regular file
    /// that belongs to this user and that others cannot access.
    public func read() -> String? {
        let most = mostBytes
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, status.st_size <= most
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: most + 1)
        let count = bytes.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0, count <= most else { return nil }
        return String(validating: bytes[..<count], as: UTF8.self)
    }

    /// Replaces the file atomically and durably with this text. Throws `disk` or `diskFull`, or `invalidRequest` for a text of more
    /// bytes than the maximum.
    public func write(_ text: String) throws(DownloadError) {
        guard text.utf8.count <= mostBytes else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.largeRecord, path, "\(text.utf8.count)", "\(mostBytes)"),
                recovery: .needsUser)
        }
        let temporary = path + Self.temporaryMark + RandomText.hex(bytes: Self.temporaryBytes)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(.create, temporary) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unlink(temporary) }
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(.write, temporary) }
            bytes = bytes.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw Self.failure(.sync, temporary) }
        guard rename(temporary, path) == 0 else { throw Self.failure(.rename, path) }
        isDone = true
        // Makes the new name durable; some file systems cannot sync directories.
        let directory = open(Paths.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        defer { close(directory) }
        guard fsync(directory) == 0 || errno == EINVAL else { throw Self.failure(.syncDirectory, path) }
    }

    private static let temporaryMark = ".new-"
    /// The number of random bytes in a temporary name.
    private static let temporaryBytes = 8

    /// Removes the temporary files that ``write(_:)`` left in a directory when it was interrupted by a kill or a power cut. No
    /// other process may write there meanwhile.
    public static func removeUnfinished(in directory: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
            let bytes = Array(name.utf8)
            let end = bytes.suffix(2 * temporaryBytes)
            guard bytes.dropLast(end.count).reversed().starts(with: temporaryMark.utf8.reversed()),
                end.count == 2 * temporaryBytes, end.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
            else { continue }
            unlink(directory + "/" + name)
        }
    }

    /// Renames an unreadable file to `NAME.unreadable`, or, if that exists, to `NAME.unreadable.2` and so on, so that neither a new
    /// file nor a later unreadable one replaces its contents.
    public func keepUnreadable() {
        let names = (1...Self.mostUnreadable).lazy.map { path + ".unreadable" + ($0 == 1 ? "" : ".\($0)") }
        var status = stat()
        if let free = names.first(where: { lstat($0, &status) != 0 }) { rename(path, free) }
    }

    /// The maximum number of copies of one unreadable file.
    private static let mostUnreadable = 100

    /// The reason for a Foundation file error: the system's message, if the error has one.
    static func reason(of error: any Error) -> String {
        guard let inner = (error as? CocoaError)?.underlying as? POSIXError else { return "\(error)" }
        return String(cString: strerror(inner.code.rawValue))
    }

    /// Creates a directory of mode 0700, and missing parent directories. An existing directory is not changed; it
    /// must belong to this user and have none of the `forbidden` mode bits, by default those of group and others.
    ///
    /// Throws `disk` if the directory cannot be created, is a symbolic link, belongs to another user, or has
    /// forbidden bits.
    public static func makeDirectory(_ path: String, forbidden bits: UInt32 = 0o077) throws(DownloadError) {
        let parent = Paths.parent(of: path)
        if access(parent, F_OK) != 0 {
            do { try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true) } catch {
                throw DownloadError(
                    .disk, ErrorPhrase(.fileFailed, ErrorPhrase(.makeDirectory), parent, reason(of: error)))
            }
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure(.makeDirectory, path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(.inspect, path) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw DownloadError(
                .disk, ErrorPhrase(.notOurDirectory, path), suggestion: ErrorPhrase(.removeOrChoose),
                recovery: .needsUser)
        }
        guard status.st_mode & mode_t(bits) == 0 else {
            throw DownloadError(
                .disk, ErrorPhrase(.openDirectory, path), suggestion: ErrorPhrase(.closeOrChoose),
                recovery: .needsUser)
        }
    }

    static func failure(_ action: ErrorPhrase.Key, _ path: String) -> DownloadError {
        let number = errno
        return DownloadError(
            number == ENOSPC || number == EDQUOT ? .diskFull : .disk,
            ErrorPhrase(.fileFailed, ErrorPhrase(action), path, String(cString: strerror(number))))
    }
}

private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
