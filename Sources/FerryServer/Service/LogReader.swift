package import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Reads the end of a ``LogFile``, and what is written to it afterwards.
package struct LogReader: Sendable {
    private let path: String
    /// The bytes at the end of the file among which the last lines are searched.
    private static let mostBytes: UInt64 = 1 << 20

    package init(_ path: String) { self.path = path }

    /// Passes the last `count` lines to `write`; with `follows`, also each new one, until the task is cancelled.
    package func read(
        last count: Int, follows: Bool, every interval: Duration = .milliseconds(250), _ write: (String) -> Void
    ) async throws(DownloadError) {
        guard var file = Self.open(path) else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noLog, path), suggestion: ErrorPhrase(.logWhere), recovery: .needsUser)
        }
        defer { try? file.handle.close() }
        let end = (try? file.handle.seekToEnd()) ?? 0
        try? file.handle.seek(toOffset: end > Self.mostBytes ? end - Self.mostBytes : 0)
        var rest = Data()
        let lines = Self.lines(of: file.handle, &rest)
        for line in lines.suffix(max(0, count)) { write(line) }
        while follows, !Task.isCancelled {
            try? await Task.sleep(for: interval)
            for line in Self.lines(of: file.handle, &rest) { write(line) }
            // A full file is renamed, and a new one begun.
            guard let new = Self.open(path) else { continue }
            guard new.inode != file.inode else {
                try? new.handle.close()
                continue
            }
            for line in Self.lines(of: file.handle, &rest) { write(line) }
            try? file.handle.close()
            file = new
        }
    }

    private static func open(_ path: String) -> (handle: FileHandle, inode: UInt64)? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return (handle, UInt64(status.st_ino))
    }

    /// The complete lines up to the end of the file; `rest` keeps the bytes of an incomplete one.
    private static func lines(of handle: FileHandle, _ rest: inout Data) -> [String] {
        rest += (try? handle.readToEnd()) ?? Data()
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Data(rest[rest.index(after: end)...])
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}
