import Ferry
import FerryCore

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

/// A results file, locked by one process, to which whole lines are appended.
///
/// It is created with access only for its user, because the queries of URLs may contain signatures. Like a journal, it is
/// opened without following links, and used only if this user owns it: it decides which entries are not fetched again.
final class ResultsFile: Sendable {
    private let descriptor: Int32

    /// The maximum length of a line, in bytes. The URLs of an entry, or the open entries of a checkpoint, can be long.
    static let mostLineBytes = 16 << 20
    /// The maximum number of lines after a checkpoint.
    private static let mostLines = 1 << 21

    /// Opens or creates the file, and removes a torn last line.
    ///
    /// - Throws: If the file is not a results file, or if another process writes to it.
    init(_ path: String) throws(UsageError) {
        descriptor = try Self.open(path)
        do throws(UsageError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw UsageError("it is not a results file of ferry; give the name of a new file")
            }
            if let problem = EngineProvider.recordProblem(ofDescriptor: descriptor, at: path) {
                throw UsageError(.phrase(problem))
            }
            // Without support for locks in the file system, no other process can hold one.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                throw UsageError("another process writes to it; give each process a file of its own")
            }
            var named = stat()
            guard lstat(path, &named) == 0, named.st_dev == status.st_dev, named.st_ino == status.st_ino else {
                throw UsageError("another process replaces it; give each process a file of its own")
            }
            try removeTornLine()
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Opens the file, or creates it if the name is free.
    private static func open(_ path: String) throws(UsageError) -> Int32 {
        let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
        for more in [0, O_CREAT | O_EXCL, 0] {
            let descriptor = openFile(path, flags | more, 0o600)
            if descriptor >= 0 { return descriptor }
            switch errno {
            case ENOENT, EEXIST: continue
            case ELOOP: throw UsageError("it is a symbolic link; give the name of the file itself")
            default: throw failure
            }
        }
        throw failure
    }

    deinit {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static var failure: UsageError { UsageError(.words(String(cString: strerror(errno)))) }

    // MARK: Writing

    /// Appends a line in one call. Returns the reason if it cannot be written, or if it is too long to be read back.
    func append(_ line: [UInt8]) -> Reason? {
        guard line.count <= Self.mostLineBytes else { return "a line of \(line.count) bytes would not be read back" }
        return StandardStreams.write(line, to: descriptor) ? nil : .words(String(cString: strerror(errno)))
    }

    /// Flushes written data to the disk, as far as the file system supports it.
    func sync() { _ = fsync(descriptor) }

    // MARK: Reading

    private var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    private func read(from start: Int, to end: Int) throws(UsageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < end - start {
            var count = 0
            let offset = off_t(start + bytes.count)
            let piece = [UInt8](unsafeUninitializedCapacity: end - start - bytes.count) { buffer, length in
                count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
                length = max(0, count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure }
            if count == 0 { break }
            bytes += piece
        }
        return bytes
    }

    /// Returns the offset of the last match before `end`, searched backwards; `nil` if there is none.
    private func last(_ pattern: [UInt8], before end: Int) throws(UsageError) -> Int? {
        var end = end
        while end > 0 {
            let start = max(0, end - (1 << 20))
            let bytes = try read(from: start, to: min(size, end + pattern.count - 1))
            var index = bytes.count - pattern.count
            while index >= 0 {
                if bytes[index] == pattern[0], bytes[index..<index + pattern.count].elementsEqual(pattern) {
                    return start + index
                }
                index -= 1
            }
            end = start
        }
        return nil
    }

    /// Truncates the file after its last line feed. Throws for a file that does not begin like a results file.
    private func removeTornLine() throws(UsageError) {
        let size = size
        let start = try read(from: 0, to: min(size, BatchCheckpoint.mark.count))
        guard BatchCheckpoint.mark.starts(with: start) || start.first == UInt8(ascii: "{") && beginsWithResult() else {
            throw UsageError("it is not a results file of ferry; give the name of a new file")
        }
        let end = try last([0x0A], before: size).map { $0 + 1 } ?? 0
        if end < size, ftruncate(descriptor, off_t(end)) != 0 { throw Self.failure }
    }

    /// Whether the first line is a result, as in a file that was written through standard output.
    private func beginsWithResult() -> Bool {
        guard let bytes = try? read(from: 0, to: min(size, Self.mostLineBytes)),
            let end = bytes.firstIndex(of: 0x0A)
        else { return false }
        return ResultsReader.outcome(bytes[..<end]) != nil
    }

    /// Returns the last checkpoint, with the offset of its line; `nil` if there is none.
    func checkpoint() throws(UsageError) -> (checkpoint: BatchCheckpoint, offset: Int)? {
        let mark = BatchCheckpoint.mark
        var offset = try last([0x0A] + mark, before: size).map { $0 + 1 }
        if offset == nil, try read(from: 0, to: min(size, mark.count)) == mark { offset = 0 }
        guard let offset else { return nil }
        var lines = lines(from: offset)
        guard let line = try lines.next(), let checkpoint = ResultsReader.checkpoint(line) else {
            throw UsageError("its last checkpoint cannot be used; give the name of a new file")
        }
        return (checkpoint, offset)
    }

    /// Returns the cursor after a checkpoint and the lines that follow it, and whether there are such lines.
    func cursor(
        after last: (checkpoint: BatchCheckpoint, offset: Int)
    ) throws(UsageError) -> (cursor: BatchCursor, hasLines: Bool) {
        let damaged = UsageError("its last checkpoint cannot be used; give the name of a new file")
        guard var cursor = last.checkpoint.cursor else { throw damaged }
        var lines = lines(from: last.offset)
        _ = try lines.next()
        var count = 0
        while let line = try lines.next() {
            count += 1
            guard count <= Self.mostLines else { throw damaged }
            // A power failure can leave bytes that are not a line.
            guard let outcome = ResultsReader.outcome(line) else { continue }
            cursor.end(outcome.key, outcome.outcome)
        }
        return (cursor, count > 0)
    }

    private func lines(from offset: Int) -> ResultsReader {
        ResultsReader(mostLineBytes: Self.mostLineBytes) { position throws(UsageError) in
            try self.read(from: offset + position, to: min(self.size, offset + position + (1 << 16)))
        }
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// Reads the lines of a results file, with one line in memory at a time.
struct ResultsReader {
    private var lines: TextLines
    private var position = 0
    private var isRead = false
    private let readBytes: (_ position: Int) throws(UsageError) -> [UInt8]

    init(mostLineBytes: Int, _ readBytes: @escaping (_ position: Int) throws(UsageError) -> [UInt8]) {
        // An offset above 0, because a byte order mark is skipped only at offset 0.
        lines = TextLines(mostBytes: mostLineBytes, startingAt: 1)
        self.readBytes = readBytes
    }

    /// Returns the next line; empty if it is too long, `nil` at the end.
    mutating func next() throws(UsageError) -> ArraySlice<UInt8>? {
        while true {
            if let line = lines.next() { return line.bytes }
            if isRead { return nil }
            let bytes = try readBytes(position)
            position += bytes.count
            isRead = bytes.isEmpty
            if isRead { lines.finish() } else { lines.append(bytes) }
        }
    }

    static func outcome(_ line: ArraySlice<UInt8>) -> ResultOutcome? { decode(ResultOutcome.self, line) }

    static func checkpoint(_ line: ArraySlice<UInt8>) -> BatchCheckpoint? {
        struct Line: Decodable { let checkpoint: BatchCheckpoint }
        return decode(Line.self, line)?.checkpoint
    }

    /// Decodes an object; `nil` if the line does not have this form.
    static func decode<Value: Decodable>(_ type: Value.Type, _ line: ArraySlice<UInt8>) -> Value? {
        guard JSONStructure.isShallow(line, depth: 8) else { return nil }
        return try? JSONCoding.decode(type, from: Data(line))
    }
}
