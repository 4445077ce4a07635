package import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Small files that are their user's alone: mode 0600, replaced whole, in directories of mode 0700.
package enum PrivateFile {
    /// The text; `nil` when it is not there, is not a plain file of ours that only we can read, or is larger than `most`.
    package static func read(_ path: String, most: Int) -> String? {
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

    /// Replaces the file by one with this text; durable when it returns. Throws `disk` or `diskFull`.
    package static func write(_ text: String, to path: String) throws(DownloadError) {
        let temporary = path + ".new-" + RandomText.hex(bytes: 8)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(.create, temporary) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unlink(temporary) }
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure(.write, temporary) }
            bytes = bytes.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure(.sync, temporary) }
        guard rename(temporary, path) == 0 else { throw failure(.rename, path) }
        isDone = true
    }

    /// Makes a directory of mode 0700, and those above it. One that is there stays as it is, and must be this user's and
    /// without these bits in its mode: by default nobody else may enter it.
    ///
    /// Throws `disk` when it cannot be made, is a symbolic link, or belongs to another user or to all.
    package static func makeDirectory(_ path: String, forbidden bits: UInt32 = 0o077) throws(DownloadError) {
        let parent = Paths.parent(of: path)
        if access(parent, F_OK) != 0 {
            do { try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true) } catch {
                throw DownloadError(
                    .disk, ErrorPhrase(.fileFailed, ErrorPhrase(.makeDirectory), parent, "\(error)"))
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
