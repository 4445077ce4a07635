public import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// What a verification found out about one file.
public struct VerifiedFile: Sendable, Hashable {
    /// The state of a file, compared with its record.
    public enum State: Sendable, Hashable {
        /// The bytes have the recorded digest.
        case intact
        /// Bytes differ although size and time say that nobody has written them: these ranges, half-open `[start, end]`.
        case damaged([[ByteCount]])
        /// The file was written after it was downloaded, and its bytes differ: these ranges, half-open `[start, end]`.
        case changed([[ByteCount]])
        /// The file is not there, or was never complete.
        case missing
        /// There is no record of the file's digest.
        case unknown
        /// The file cannot be read.
        case unreadable(DownloadError)
        /// The file is in the directory of a set and not of the set.
        case extra
    }

    /// The absolute path.
    public var path: String
    public var state: State
    /// What is known of the file; `nil` if there is no record.
    public var record: FileRecord?
    /// The directory of the manifest that names the file, below which no link is followed; `nil` for a file that was
    /// named itself.
    public var directory: String?
    /// The number of the user who recorded the digests, if that is not this one: the record is as trustworthy as that user.
    public var recordedBy: UInt32?
    /// The path of the file with the record: a manifest, the digests beside the file, or the file itself, which keeps a
    /// digest in an attribute; `nil` if there is no record.
    public var recordedIn: String?
    /// Why nothing is written by what the record says.
    var recordFlaw: ErrorPhrase?

    /// Whether the file is whole.
    public var isIntact: Bool { state == .intact }

    /// The number of bytes that differ.
    public var damagedBytes: ByteCount {
        switch state {
        case .damaged(let ranges), .changed(let ranges): ranges.reduce(0) { $0 + $1[1] - $1[0] }
        case .missing: record?.totalBytes ?? 0
        case .intact, .unknown, .unreadable, .extra: 0
        }
    }
}

/// Coded as `{"path", "state", "ranges"?, "error"?, "totalBytes"?, "checksum"?, "recordedBy"?,
/// "recordedIn"?}`.
extension VerifiedFile: Encodable {
    private enum CodingKeys: String, CodingKey {
        case path, state, ranges, error, totalBytes, checksum, recordedBy, recordedIn
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(state.word, forKey: .state)
        switch state {
        case .damaged(let ranges), .changed(let ranges): try container.encode(ranges, forKey: .ranges)
        case .unreadable(let error): try container.encode(error, forKey: .error)
        case .intact, .missing, .unknown, .extra: break
        }
        try container.encodeIfPresent(record?.totalBytes, forKey: .totalBytes)
        try container.encodeIfPresent(record?.checksum, forKey: .checksum)
        try container.encodeIfPresent(recordedBy, forKey: .recordedBy)
        try container.encodeIfPresent(recordedIn, forKey: .recordedIn)
    }
}

extension VerifiedFile.State {
    /// The word of the state: `intact`, `damaged`, `changed`, `missing`, `unknown`, `unreadable` or `extra`.
    public var word: String {
        switch self {
        case .intact: "intact"
        case .damaged: "damaged"
        case .changed: "changed"
        case .missing: "missing"
        case .unknown: "unknown"
        case .unreadable: "unreadable"
        case .extra: "extra"
        }
    }
}

/// Compares files with the digests that were recorded when they were downloaded: of a directory with a manifest, all files
/// of the set; of a file, what was recorded with it: the digests beside it, or the one in its attribute; else the manifest
/// of a set of this user that contains it.
///
/// Nothing is written, so the files and the records may be anyone's who lets this user read them: what is known of a record
/// is its ``RecordSource``, by which ``DownloadManager/repair(_:with:)`` decides. Manifests are looked for in directories
/// above the file only as far as nobody else can put files there.
struct FileVerifier {
    let disk: Disk

    /// What a path names.
    struct Targets: Sendable {
        var files: [(path: FilePath, record: FileRecord?)] = []
        /// The directory of the manifest.
        var directory: String?
        /// Where the records are from.
        var source: RecordSource?
        /// Why there may be more.
        var problem: ErrorPhrase?
    }

    /// The files that a path names, with their records.
    func targets(_ path: String) throws(DownloadError) -> Targets {
        let place = FilePath(path)
        let status: FileStatus?
        do throws(FileError) { status = try disk.fileSystem.statusIfPresent(place) } catch {
            throw DownloadError(error)
        }
        if let status, status.kind == .directory {
            guard let content = try Manifest.content(of: place, fileSystem: disk.fileSystem) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.noManifest, path), recovery: .needsUser)
            }
            return Targets(
                files: content.records.map { (place.appending($0.path), $0) }, directory: path, source: content.source,
                problem: content.problem)
        }
        let (beside, own) = (digests(beside: place, disk.fileSystem), attribute(of: place))
        let above = try record(inManifestAbove: place)
        // Own records before those of others; what is kept with the file before a manifest, which others may have made.
        var found = [beside, own, above].compactMap(\.self).first { $0.source.flaw == nil } ?? beside ?? own
        if let own, let above, found?.source == own.source, own.record.checksum == above.record.checksum,
            own.record.totalBytes == above.record.totalBytes
        {
            // It says the same of the bytes, and where they are from.
            found = above
        }
        return Targets(files: [(place, found?.record)], source: found?.source)
    }

    /// The files below the directory of a set that its manifest does not name, sorted; without Ferry's own files, and without
    /// directories that are sets themselves. No link is followed.
    func extras(in directory: FilePath, besides known: Set<FilePath>) -> [FilePath] {
        let fileSystem = disk.fileSystem(within: directory.string)
        var found: [FilePath] = []
        var directories: [(path: FilePath, depth: Int)] = [(directory, 0)]
        while let (place, depth) = directories.popLast(), found.count < Self.mostExtras {
            for name in (try? fileSystem.list(place)) ?? [] where ReservedName(name) == nil {
                let path = place.appending(name)
                guard !known.contains(path), let status = try? fileSystem.status(path, followingLinks: false) else {
                    continue
                }
                if status.kind != .directory {
                    found.append(path)
                } else if depth < Self.mostDepth, (try? fileSystem.exists(path.appending(SetPath.manifest))) != true {
                    directories.append((path, depth + 1))
                }
            }
        }
        return found.sorted { $0.string < $1.string }
    }

    private static let mostExtras = 100_000
    private static let mostDepth = 64

    /// A record, and where it is from.
    typealias Found = (record: FileRecord, source: RecordSource)

    /// The digests beside a file, unless the file is a newer download without any.
    private func digests(beside path: FilePath, _ fileSystem: any FileSystem) -> Found? {
        guard let place = DigestFile.path(of: path), let opened = try? fileSystem.openAnyones(place) else { return nil }
        defer { opened.close() }
        guard let source = try? RecordSource(opened, at: place, fileSystem: fileSystem),
            let record = DigestFile.read(opened)
        else { return nil }
        guard let file = try? fileSystem.openAnyones(path) else { return (record, source) }
        defer { file.close() }
        guard let status = try? file.status(), status.modified.text != record.modified,
            let attribute = SourceAttribute.read(file), attribute.isOf(status), attribute.checksum != record.checksum
        else { return (record, source) }
        return nil
    }

    private func record(inManifestAbove file: FilePath) throws(DownloadError) -> Found? {
        var directory = file.parent
        while disk.fileSystem.isOurs(directory: directory) {
            if let content = try Manifest.content(of: directory, fileSystem: disk.fileSystem),
                content.source.flaw == nil, let rest = file.string.dropping(prefix: directory.string)
            {
                let path = rest.split(at: "/").joined(separator: "/")
                if let record = content.records.first(where: { $0.path.hasSameBytes(as: path) }) {
                    return (record, content.source)
                }
            }
            guard directory.parent != directory, !directory.components.isEmpty else { return nil }
            directory = directory.parent
        }
        return nil
    }

    /// The digest that a file keeps in its attribute.
    private func attribute(of path: FilePath) -> Found? {
        guard let file = try? disk.fileSystem.openAnyones(path) else { return nil }
        defer { file.close() }
        guard let source = try? RecordSource(file, at: path, for: .content, fileSystem: disk.fileSystem),
            let found = SourceAttribute.read(file), let checksum = found.checksum
        else { return nil }
        var record = FileRecord(path: path.lastComponent?.string ?? "")
        (record.totalBytes, record.checksum, record.proof) = (found.length, checksum, .digest)
        (record.etag, record.lastModified, record.modified) = (found.etag, found.lastModified, found.modified.text)
        return (record, source)
    }

    /// Compares one file.
    ///
    /// - Parameter directory: The directory that confines the file; `nil` for none.
    func verify(
        _ path: FilePath, _ given: FileRecord?, from source: RecordSource? = nil, in directory: String?
    ) -> VerifiedFile {
        let fileSystem = disk.fileSystem(within: directory)
        var result = VerifiedFile(path: path.string, state: .unknown, record: given, directory: directory)
        if given != nil {
            (result.recordedBy, result.recordedIn, result.recordFlaw) = (source?.user, source?.path, source?.flaw)
        }
        guard var record = given, let total = record.totalBytes, let checksum = record.checksum else {
            if (try? fileSystem.exists(path)) == false { result.state = .missing }
            return result
        }
        if record.pieces == nil, let beside = digests(beside: path, fileSystem),
            beside.record.checksum == checksum, beside.record.totalBytes == total,
            // By the pieces a repair decides what it copies.
            beside.source.flaw == nil || source?.flaw != nil
        {
            record.pieces = beside.record.pieces
            result.record = record
        }
        do throws(FileError) {
            guard try fileSystem.exists(path) else {
                result.state = .missing
                return result
            }
            let file = try fileSystem.openAnyones(path)
            defer { file.close() }
            let status = try file.status()
            let damaged = try damage(file, status.length, record, total, checksum)
            if damaged.isEmpty {
                result.state = .intact
            } else {
                let isTouched = status.length != total || record.modified.map { $0 != status.modified.text } ?? true
                result.state = isTouched ? .changed(damaged.pairs) : .damaged(damaged.pairs)
            }
        } catch { result.state = .unreadable(DownloadError(error)) }
        return result
    }

    /// Returns the bytes of the file, as it was downloaded, that are not there.
    private func damage(
        _ file: any File, _ length: ByteCount, _ record: FileRecord, _ total: ByteCount, _ checksum: Checksum
    ) throws(FileError) -> RangeSet<ByteCount> {
        var digest = PrefixDigest(checksum.algorithm, of: file)
        var damaged = RangeSet<ByteCount>()
        let pieces = record.pieces.flatMap { $0.cover(total) ? $0 : nil }
        let step = pieces?.pieceBytes ?? 1 << 20
        var start: ByteCount = 0
        while start < min(length, total) {
            let end = min(start + step, length, total)
            if let pieces {
                var piece = PrefixDigest(pieces.algorithm, of: file, from: start)
                try piece.advance(to: end)
                let isWhole = end == min(start + step, total)
                if !isWhole || !piece.finish().elementsEqual(pieces.digest(of: Int(start / step))) {
                    damaged.insert(contentsOf: start..<min(start + step, total))
                }
            } else {
                try digest.advance(to: end)
            }
            start = end
        }
        if length < total { damaged.insert(contentsOf: length..<total) }
        if pieces == nil, damaged.isEmpty, digest.finish() != checksum.bytes {
            damaged.insert(contentsOf: 0..<max(1, total))
        }
        if length > total, damaged.isEmpty { damaged.insert(contentsOf: max(0, total - 1)..<max(1, total)) }
        return damaged
    }
}

extension DownloadManager {
    /// Compares files with the digests that were recorded when they were downloaded.
    ///
    /// - Parameters:
    ///   - path: A directory with a manifest of `sync(_:into:options:)`, or a file of one, or one that was downloaded with
    ///     ``DownloadRequest/recordsDigests``.
    ///   - body: Called with each file in order; of a directory then with those that are not of the set.
    /// - Throws: `invalidRequest` for a directory without a manifest, and after all files for one whose manifest is not
    ///   whole; `cancelled` after the task is cancelled. What is wrong with a file is its state.
    public static func verify(
        _ path: String, _ body: @Sendable (VerifiedFile) async -> Void
    ) async throws(DownloadError) {
        let path = absolute(path)
        let targets = try await EngineProvider.files.run { disk throws(DownloadError) in
            try FileVerifier(disk: disk).targets(path)
        }
        for target in targets.files {
            let file = await EngineProvider.files.run { disk in
                FileVerifier(disk: disk).verify(
                    target.path, target.record, from: targets.source, in: targets.directory)
            }
            guard !Task.isCancelled else {
                throw DownloadError(.cancelled, ErrorPhrase(.itWasCancelled))
            }
            await body(file)
        }
        // A manifest that is not whole does not say which files are of the set.
        if targets.problem == nil, let directory = targets.directory.map({ FilePath($0) }) {
            let known = Set(targets.files.map(\.path))
            let extras = await EngineProvider.files.run { disk in
                FileVerifier(disk: disk).extras(in: directory, besides: known)
            }
            for path in extras {
                await body(VerifiedFile(path: path.string, state: .extra, directory: directory.string))
            }
        }
        if let problem = targets.problem {
            throw DownloadError(.invalidRequest, problem, recovery: .needsUser)
        }
    }

    /// Returns the download that repairs a file: it fetches the bytes that differ, under the validator of the first download
    /// or with the digest as judge, and replaces the file in one step. The file is not changed before that.
    ///
    /// Copies the intact bytes beside the file first, synced and compared.
    ///
    /// - Parameters:
    ///   - file: A damaged, changed or missing file, as ``verify(_:_:)`` found it.
    ///   - template: What the file is requested with; its sources replace those of the record, if there are any.
    /// - Throws: `notResumable` without a record that is this user's own, or a URL, `conflict` while another download has the name, `disk`, why the
    ///   file cannot be read, or that it is another user's.
    public static func repair(
        _ file: VerifiedFile, with template: DownloadRequest
    ) async throws(DownloadError) -> DownloadRequest {
        if case .unreadable(let error) = file.state { throw error }
        guard var record = file.record, record.checksum != nil || file.state == .missing else {
            throw DownloadError(.notResumable, ErrorPhrase(.notRepairable, file.path), recovery: .needsUser)
        }
        if let flaw = file.recordFlaw {
            throw DownloadError(
                .notResumable, ErrorPhrase(.recordNotOurs, file.path, flaw), recovery: .needsUser)
        }
        var request = template
        if request.sources.isEmpty { request.sources = record.urls.compactMap { try? DownloadURL($0) } }
        guard !request.sources.isEmpty else {
            throw DownloadError(.notResumable, ErrorPhrase(.repairWithoutURL, file.path), recovery: .needsUser)
        }
        // Of another server the digest decides, as a validator is that of one server.
        if request.sources.first.map({ record.urls.contains($0.text) }) != true {
            (record.etag, record.lastModified) = (nil, nil)
        }
        record.urls = request.sources.map { $0.with(nil).text }
        (request.checksum, request.expectedBytes) = (record.checksum, record.totalBytes)
        request.pieces = record.pieces
        request.recordsDigests = true
        request.onConflict = file.state == .missing ? .fail : .overwrite
        request.trust.failsOnChange = true
        request.root = file.directory
        switch file.state {
        case .damaged(let pairs) where record.pieces != nil, .changed(let pairs) where record.pieces != nil:
            let damaged = RangeSet<ByteCount>(pairs: pairs) ?? RangeSet(0..<(record.totalBytes ?? 0))
            let (path, now, whole, root) = (FilePath(file.path), Date(), record, file.directory)
            let paths = try await EngineProvider.files.run { disk throws(DownloadError) in
                try RepairPart.make(
                    of: path, whole, damaged: damaged, id: .make(), now: now,
                    fileSystem: disk.fileSystem(within: root))
            }
            request.destination = .part(paths.part.string)
        case .damaged, .changed, .missing:
            try await requireOwn(file)
            request.destination = .file(file.path)
            if let root = file.directory { try await makeDirectory(of: file.path, in: root) }
        case .intact, .unknown, .extra, .unreadable:
            throw DownloadError(.notResumable, ErrorPhrase(.notRepairable, file.path), recovery: .needsUser)
        }
        return request
    }

    /// Throws if the file, or the manifest that names a missing one, is another user's: only the owner repairs.
    private static func requireOwn(_ file: VerifiedFile) async throws(DownloadError) {
        let manifest = file.directory.map { FilePath($0).appending(SetPath.manifest) }
        guard let path = file.state == .missing ? manifest : FilePath(file.path) else { return }
        let root = file.directory
        try await EngineProvider.files.run { disk throws(DownloadError) in
            do throws(FileError) {
                try disk.fileSystem(within: root).openOurs(path, .readOnly, for: .content).close()
            } catch { throw DownloadError(error) }
        }
    }

    /// Makes the directory of a missing file of a set, which may be gone too.
    private static func makeDirectory(of path: String, in root: String) async throws(DownloadError) {
        try await EngineProvider.files.run { disk throws(DownloadError) in
            do throws(FileError) {
                try disk.fileSystem(within: root).makeDirectories(FilePath(path).parent, syncs: true)
            } catch { throw DownloadError(error) }
        }
    }
}
