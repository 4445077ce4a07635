import CFerry
package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Reads the end of a ``LogFile``, and the lines that are appended afterwards.
package struct LogReader: Sendable {
    private let path: String
    /// The number of bytes at the end of the file that are searched for the last lines.
    private static let mostBytes: Int64 = 1 << 20

    package init(_ path: String) { self.path = path }

    /// Passes the last `count` lines to `write`; with `follows`, each new line too, until the task is cancelled.
    package func read(
        last count: Int, follows: Bool, every interval: Duration = .milliseconds(250), _ write: (String) -> Void
    ) async throws(DownloadError) {
        guard var file = OpenLog(path) else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noLog, path), suggestion: ErrorPhrase(.logWhere), recovery: .needsUser)
        }
        file.skip(toLast: Self.mostBytes)
        for line in file.lines().suffix(max(0, count)) { write(line) }
        while follows, !Task.isCancelled {
            try? await Task.sleep(for: interval)
            for line in file.lines() { write(line) }
            // A full log is renamed, and a new file is started.
            guard let new = OpenLog(path), new.inode != file.inode else { continue }
            for line in file.lines() { write(line) }
            file = new
        }
    }
}

/// An open log, read from its position to its end.
private final class OpenLog {
    private let descriptor: Int32
    let inode: UInt64
    private var offset: Int64 = 0
    /// The bytes of an incomplete line.
    private var rest: [UInt8] = []

    /// `nil` if there is no such file.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        inode = UInt64(status.st_ino)
        if !isFile { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Skips all but the last `count` bytes.
    func skip(toLast count: Int64) { offset = max(0, Int64(lseek(descriptor, 0, SEEK_END)) - count) }

    /// The complete lines up to the end of the file.
    func lines() -> [String] {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(descriptor, &piece, piece.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest += piece[..<count]
            offset += Int64(count)
        }
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        defer { rest.removeFirst(end + 1) }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}
