import FerryCore
import FerryEngine
import NIOCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The manifest of a set: one ``FileRecord`` per line. If several lines have the same path, the last one counts. For a directory it
/// is the file `DIR/ferry-manifest.jsonl`. For a set in a bucket, whose manifest is an object, it is the local log of the runs that
/// have not ended.
///
/// A sync appends the record of each file when the file has been published, so a killed sync leaves the records of its completed
/// files. At the end of a sync the manifest is replaced in one step, in the order of the list, with the number of its files as its
/// last line. The file's lock prevents two syncs of one directory at the same time.
struct Manifest: Sendable {
    /// The records, by path.
    private(set) var records: [FilePath: FileRecord] = [:]
    private let path: FilePath
    private let paths: PathRule
    private let fileSystem: any FileSystem
    private var file: any File
    /// The offset at which the next line is appended.
    private var end: ByteCount

    /// The meaning of the paths in records.
    enum PathRule: Sendable {
        /// Relative paths of files on this machine.
        case files
        /// Keys of objects below a prefix.
        case keys
        /// Like `keys`, and the key of the manifest, which is uploaded as an object too.
        case noted

        fileprivate func contains(_ path: String) -> Bool {
            switch self {
            case .files: SetPath.make(path).map { $0.hasSameBytes(as: path) } ?? false
            case .keys: SetPath.isKey(path)
            case .noted: SetPath.isKey(path) || path.hasSameBytes(as: SetPath.manifest)
            }
        }
    }

    private static let pieceBytes: ByteCount = 4 << 20
    private static let mostLineBytes = 1 << 20
    /// The maximum number of records, because they are held in memory.
    private static let mostRecords = 4_000_000
    /// Lines are written together up to about this size.
    private static let writtenBytes = 1 << 20

    /// Opens the manifest of a directory, or creates it. Blocks.
    ///
    /// Throws `conflict` while another process has it open, `disk` if it belongs to another user or cannot be read.
    init(in directory: FilePath, fileSystem: any FileSystem) throws(DownloadError) {
        try self.init(
            at: directory.appending(SetPath.manifest), of: directory.string, .files, fileSystem: fileSystem)
    }

    /// Opens the manifest at `path`, or creates it. `set` is the name of the set in error messages. Blocks.
    init(at path: FilePath, of set: String, _ paths: PathRule, fileSystem: any FileSystem) throws(DownloadError) {
        self.path = path
        self.paths = paths
        self.fileSystem = fileSystem
        do throws(FileError) {
            let locked = try fileSystem.lockNamed(path) { () throws(FileError) in
                do throws(FileError) { return try fileSystem.openOurs(path, .readWrite) } catch
                    where error.kind == .notFound
                {
                    return try fileSystem.create(path, mode: 0o600)
                }
            }
            guard let locked else { throw FileError(.open, path, kind: .exists) }
            (file, end) = (locked.file, locked.status.length)
        } catch  where error.operation == .lock && error.kind == .exists {
            throw DownloadError(
                .conflict, ErrorPhrase(.setInUse, set), suggestion: ErrorPhrase(.waitForSync),
                recovery: .needsUser)
        } catch { throw DownloadError(error) }
        do throws(DownloadError) {
            if SourceAttribute.read(file) != nil {
                throw DownloadError(
                    .conflict, ErrorPhrase(.downloadedRecord, "\(path)"), suggestion: ErrorPhrase(.moveRecord),
                    recovery: .needsUser)
            }
            try read()
        } catch {
            file.close()
            throw error
        }
    }

    /// The content of a manifest.
    struct Content: Sendable {
        /// The records in the order of their paths' first lines.
        var records: [FileRecord] = []
        /// Why the manifest is incomplete or damaged; `nil` if it is whole.
        var problem: ErrorPhrase?
        var source: RecordSource
    }

    /// The last line of a whole manifest.
    private struct Count: Codable { var files: Int }

    /// Reads the records of a directory without changing anything. Returns `nil` if it has no manifest. Blocks.
    ///
    /// The manifest may belong to another user, as its `source` shows.
    static func content(of directory: FilePath, fileSystem: any FileSystem) throws(DownloadError) -> Content? {
        try content(at: directory.appending(SetPath.manifest), of: directory.string, .files, fileSystem: fileSystem)
    }

    /// Reads the records of the manifest at `path`, without changing anything. `set` is the name of the set in error messages.
    /// Blocks.
    static func content(
        at path: FilePath, of set: String, _ paths: PathRule, fileSystem: any FileSystem
    ) throws(DownloadError) -> Content? {
        guard (try? fileSystem.exists(path)) == true else { return nil }
        do throws(FileError) {
            let file = try fileSystem.openAnyones(path)
            defer { file.close() }
            let found = try read(file, length: file.status().length, path, paths)
            var content = Content(
                records: found.order.compactMap { found.records[$0] },
                source: try RecordSource(file, at: path, fileSystem: fileSystem))
            if found.unusable > 0 {
                content.problem = ErrorPhrase(.manifestDamaged, set, "\(found.unusable)")
            } else if let count = found.count {
                if count > found.records.count {
                    content.problem = ErrorPhrase(
                        .manifestShort, set, "\(found.records.count)", "\(count)")
                }
            } else {
                content.problem = ErrorPhrase(.syncNotEnded, set)
            }
            return content
        } catch { throw DownloadError(error) }
    }

    private mutating func read() throws(DownloadError) {
        do throws(FileError) {
            let found = try Self.read(file, length: end, path, paths)
            records = found.records
            // A line that was truncated when the process was killed or the power failed is overwritten.
            end = found.end
        } catch { throw DownloadError(error) }
    }

    /// The lines of a manifest, which is read piece by piece.
    fileprivate struct Lines {
        private let paths: PathRule
        var records: [FilePath: FileRecord] = [:]
        /// The paths in the order of their first lines.
        var order: [FilePath] = []
        /// The number of files in the final line of the last finished sync.
        var count: Int?
        /// The number of lines that cannot be read; their files are requested again.
        var unusable = 0
        /// The end of the last complete line.
        var end: ByteCount = 0

        /// The beginning of a line whose end has not been read.
        private var rest: [UInt8] = []

        init(_ paths: PathRule) { self.paths = paths }

        /// Whether the text cannot be a manifest because a line is too long or there are too many records.
        var isBroken: Bool { rest.count > mostLineBytes || records.count > mostRecords }

        /// Adds the lines of the next bytes.
        mutating func append(_ bytes: some Sequence<UInt8>) {
            rest += bytes
            var start = 0
            while records.count <= mostRecords, let feed = rest[start...].firstIndex(of: 0x0A) {
                add(rest[start..<feed])
                start = feed + 1
            }
            rest.removeFirst(start)
        }

        /// Adds the last line if it has no line break.
        mutating func finish() {
            if !rest.isEmpty { add(rest[...]) }
            rest = []
        }

        /// Whether no line is missing or damaged.
        var isWhole: Bool { unusable == 0 && !isBroken && count.map { $0 <= records.count } == true }

        private mutating func add(_ line: ArraySlice<UInt8>) {
            end += ByteCount(line.count + 1)
            let data = Data(line)
            if line.count <= mostLineBytes, JSONStructure.isShallow(line, depth: 8) {
                if let record = try? JSONCoding.decode(FileRecord.self, from: data), paths.contains(record.path) {
                    if records.updateValue(record, forKey: record.key) == nil { order.append(record.key) }
                    return
                }
                if let count = try? JSONCoding.decode(Count.self, from: data) {
                    self.count = count.files
                    return
                }
            }
            unusable += 1
        }
    }

    private static func read(
        _ file: any File, length: ByteCount, _ path: FilePath, _ paths: PathRule
    ) throws(FileError) -> Lines {
        var lines = Lines(paths)
        var offset: ByteCount = 0
        while offset < length {
            let piece = try file.read(offset..<min(length, offset + pieceBytes))
            offset += ByteCount(piece.count)
            lines.append(piece)
            if lines.isBroken { throw FileError(.read, path, kind: .endedEarly) }
        }
        return lines
    }

    /// Appends a record, but does not sync it. If the line is lost, the next sync only repeats a request, or compares an object
    /// whose upload was recorded durably when it began. Blocks.
    mutating func append(_ record: FileRecord) throws(DownloadError) {
        records[record.key] = record
        try appendLine(of: record)
    }

    /// Appends the line of a record that only the next run needs, but does not sync it. ``records`` does not change, so that copies
    /// of this manifest continue to share its table. Blocks.
    mutating func appendLine(of record: FileRecord) throws(DownloadError) { try write(try Self.line(record)) }

    /// Appends records, many with one write. Blocks.
    mutating func append(contentsOf records: [FileRecord]) throws(DownloadError) {
        var buffer: [UInt8] = []
        for record in records {
            self.records[record.key] = record
            buffer += try Self.line(record)
            guard buffer.count >= Self.writtenBytes else { continue }
            try write(buffer)
            buffer = []
        }
        if !buffer.isEmpty { try write(buffer) }
    }

    /// Makes the appended lines and the name of the manifest durable. Blocks.
    func sync() throws(DownloadError) {
        do throws(FileError) {
            try file.dataSync()
            try fileSystem.syncDirectoryIfSupported(path.parent)
        } catch { throw DownloadError(error) }
    }

    private mutating func write(_ lines: [UInt8]) throws(DownloadError) {
        do throws(FileError) { try file.write(lines, at: end) } catch { throw DownloadError(error) }
        end += ByteCount(lines.count)
    }

    /// Replaces the manifest in one step, durably, and closes it. Blocks.
    func replace(by records: [FileRecord]) throws(DownloadError) {
        defer { file.close() }
        do throws(FileError) {
            let mode = try file.status().mode & 0o777
            let new = DownloadPaths.draft(of: path)
            let created = try createDraft(at: new, of: records).file
            defer { created.close() }
            try created.setMode(mode)
            try created.dataSync()
            try fileSystem.rename(new, to: path, replacing: true)
            try fileSystem.syncDirectoryIfSupported(path.parent)
        } catch { throw DownloadError(error) }
    }

    /// Returns an open, already unlinked file with the text of a whole manifest, and its digest. Blocks.
    func draft(
        of records: [FileRecord]
    ) throws(DownloadError) -> (file: any File, totalBytes: ByteCount, digest: [UInt8]) {
        do throws(FileError) {
            let new = DownloadPaths.draft(of: path)
            let (file, length) = try createDraft(at: new, of: records)
            do throws(FileError) {
                // allow(ours): created just now.
                try fileSystem.removeIfPresent(new)
                return (file, length, try ByteDigest.of(file, length: length, .sha256))
            } catch {
                file.close()
                throw error
            }
        } catch { throw DownloadError(error) }
    }

    /// Creates a file with the text of a whole manifest. Returns it with its length.
    private func createDraft(
        at new: FilePath, of records: [FileRecord]
    ) throws(FileError) -> (file: any File, length: ByteCount) {
        // allow(ours): checked just now.
        if try fileSystem.ours(at: new, for: .removal) != nil { try fileSystem.removeIfPresent(new) }
        let file = try fileSystem.create(new, mode: 0o600)
        var offset: ByteCount = 0
        func write(_ bytes: [UInt8]) throws(FileError) {
            try file.write(bytes, at: offset)
            offset += ByteCount(bytes.count)
        }
        do throws(FileError) {
            var buffer: [UInt8] = []
            for record in records {
                buffer += (try? Self.line(record)) ?? []
                guard buffer.count >= Self.writtenBytes else { continue }
                try write(buffer)
                buffer = []
            }
            try write(buffer + Array("{\"files\":\(records.count)}\n".utf8))
            return (file, offset)
        } catch {
            file.close()
            throw error
        }
    }

    /// Closes the manifest and keeps the appended lines. Blocks.
    func close() { file.close() }

    /// Deletes the manifest, whose lock this process holds, and closes it. Blocks.
    func remove() {
        defer { file.close() }
        // allow(ours): opened and locked as such.
        if (try? fileSystem.isNamed(path, file)) == true { try? fileSystem.removeIfPresent(path) }
    }

    /// Returns the line of a record. If the line would be too long to be read back, drops first the mirrors, then the reason for a
    /// failure, then other fields that the record can lack.
    static func line(_ record: FileRecord) throws(DownloadError) -> [UInt8] {
        var record = record
        // The digests of pieces are in a separate file beside the downloaded one.
        record.pieces = nil
        for shorten in [
            { _ in }, { $0.urls.removeLast($0.urls.count - min(1, $0.urls.count)) },
            { $0.problem = $0.problem.map { _ in "" } }, { $0.urls = [] }, { ($0.etag, $0.lastModified) = (nil, nil) },
        ]
            as [(inout FileRecord) -> Void]
        {
            shorten(&record)
            let line: [UInt8]
            do { line = Array(try JSONCoding.encode(record, sortsKeys: true)) } catch {
                throw DownloadError(.internal, "\(error)")
            }
            if line.count <= mostLineBytes { return line + [0x0A] }
        }
        throw DownloadError(.internal, "the record of a file is too long for its manifest")
    }
}

/// The manifest of a set of objects while it is being received.
final class ArrivingManifest: Sendable {
    /// Never contended, because pieces arrive one after the other.
    private let state = Mutex((lines: Manifest.Lines(.keys), digest: RunningDigest(.sha256)))

    /// Pieces above this size are parsed on a file thread. Parsing a smaller piece takes less time than waking that thread.
    private static let mostInline = 64 << 10

    /// Adds bytes. Returns `false` if they cannot belong to a manifest.
    func append(_ bytes: ByteBuffer) async -> Bool {
        if bytes.readableBytes <= Self.mostInline { return add(bytes) }
        return await EngineProvider.files.run { [self] _ in add(bytes) }
    }

    private func add(_ bytes: ByteBuffer) -> Bool {
        state.withLock { state in
            state.lines.append(bytes.readableBytesView)
            bytes.withUnsafeReadableBytes { state.digest.update($0) }
            // A manifest with a damaged line is not used, so its other records need not be held in memory.
            return !state.lines.isBroken && state.lines.unusable == 0
        }
    }

    /// The content that has been received.
    struct Content: Sendable {
        /// The records in the order of their paths' first lines; `nil` if the manifest is not whole.
        var records: [FileRecord]?
        /// The SHA-256.
        var digest: [UInt8]
        /// Whether reading was stopped early because the content is not a manifest.
        var isBroken: Bool
    }

    /// Returns the content after its last bytes. Blocks.
    func finish() -> Content {
        state.withLock { state in
            let isBroken = state.lines.isBroken || state.lines.unusable > 0
            state.lines.finish()
            let records =
                !isBroken && state.lines.isWhole
                ? state.lines.order.compactMap { state.lines.records[$0] } : nil
            return Content(records: records, digest: state.digest.finish(), isBroken: isBroken)
        }
    }
}
