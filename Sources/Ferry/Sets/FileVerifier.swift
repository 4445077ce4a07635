public import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The result of the verification of one file.
public struct VerifiedFile: Sendable, Hashable {
    /// The state of a file, compared with its record.
    public enum State: Sendable, Hashable {
        /// The bytes have the recorded digest.
        case intact
        /// Bytes in these half-open ranges `[start, end]` differ, although the size and time are unchanged.
        case damaged([[ByteCount]])
        /// The file was written after its download, and bytes in these half-open ranges `[start, end]` differ.
        case changed([[ByteCount]])
        /// The file does not exist, or was never complete.
        case missing
        /// There is no record of the file's digest.
        case unknown
        /// The file cannot be read.
        case unreadable(DownloadError)
        /// The file is in the directory of a set but does not belong to the set. It may be the part file of a file that the source
        /// no longer lists.
        case extra
    }

    /// The absolute path.
    public var path: String
    public var state: State
    /// The record of the file; `nil` if there is none.
    public var record: FileRecord?
    /// The directory of the manifest that lists the file; no link below it is followed. `nil` if the path of the file itself
    /// was given.
    public var directory: String?
    /// The ID of the user who recorded the digests, if it is not the current user. The record is as trustworthy as that user.
    public var recordedBy: UInt32?
    /// The path of the file with the record: a manifest, the digests beside the file, or the file itself if it has a digest in
    /// an attribute; `nil` if there is no record.
    public var recordedIn: String?
    /// Why the record must not be used to write files; `nil` if it may be.
    var recordFlaw: ErrorPhrase?

    /// Whether the file has the recorded digest.
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

/// Encoded as `{"path", "state", "ranges"?, "error"?, "totalBytes"?, "checksum"?, "recordedBy"?, "recordedIn"?}`.
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
    /// The name of the state: `intact`, `damaged`, `changed`, `missing`, `unknown`, `unreadable` or `extra`.
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

/// Compares files with the digests that were recorded when they were downloaded. For a directory with a manifest, all files of
/// the set are compared. A single file is compared with the digests beside it or the one in its attribute, otherwise with the
/// manifest of this user's set that contains it.
///
/// Nothing is written, so the files and records may belong to anyone who lets this user read them. The ``RecordSource`` of a
/// record decides whether ``DownloadManager/repair(_:with:)`` may use it. Manifests are searched for in the directories above the
/// file, up to the first directory in which others can create files.
struct FileVerifier {
    let disk: Disk

    /// The files that a path denotes.
    struct Targets: Sendable {
        var files: [(path: FilePath, record: FileRecord?)] = []
        /// The directory of the manifest.
        var directory: String?
        /// The source of the records.
        var source: RecordSource?
        /// Why the list of files may be incomplete.
        var problem: ErrorPhrase?
    }

    /// Returns the files that a path denotes, with their records.
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
        // This user's records take precedence over those of others, and records kept with the file over a manifest, which
        // others may have written.
        var found = [beside, own, above].compactMap(\.self).first { $0.source.flaw == nil } ?? beside ?? own
        if let own, let above, found?.source == own.source, own.record.checksum == above.record.checksum,
            own.record.totalBytes == above.record.totalBytes
        {
            // The manifest has the same digest, and also the source of the file.
            found = above
        }
        return Targets(files: [(place, found?.record)], source: found?.source)
    }

    /// Returns the files below the directory of a set that its manifest does not list, sorted. Excludes directories that are sets
    /// themselves, and Ferry's own files, except the part files (or, without one, journals) of files that the manifest does not
    /// list. No link is followed.
    func extras(in directory: FilePath, besides known: Set<FilePath>) -> [FilePath] {
        let fileSystem = disk.fileSystem(within: directory.string)
        var found: [FilePath] = []
        var directories: [(path: FilePath, depth: Int)] = [(directory, 0)]
        while let (place, depth) = directories.popLast(), found.count < Self.mostExtras {
            for remains in PartFiles.remains(in: place, fileSystem: fileSystem) {
                let paths = remains.paths
                guard !known.contains(paths.final) else { continue }
                found.append((try? fileSystem.exists(paths.part)) == true ? paths.part : paths.journal)
            }
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

    /// A record and its source.
    typealias Found = (record: FileRecord, source: RecordSource)

    /// Returns the digests beside a file, unless they belong to an earlier download of the file.
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

    /// Returns the digest in the attribute of a file.
    private func attribute(of path: FilePath) -> Found? {
        guard let file = try? disk.fileSystem.openAnyones(path) else { return nil }
        defer { file.close() }
        guard let source = try? RecordSource(file, at: path, for: .content, fileSystem: disk.fileSystem),
            let found = SourceAttribute.read(file), found.checksum != nil
        else { return nil }
        var record = FileRecord(path: path.lastComponent?.string ?? "")
        record.use(found)
        record.proof = .digest
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
            do throws(FileError) {
                // A directory or link in the place of a file of the set is not that file.
                let exists =
                    given == nil
                    ? try fileSystem.exists(path) : try SyncPlan.HeldFile.read(path, fileSystem) != nil
                if !exists { result.state = .missing }
            } catch {
                // Whether the file exists is unknown too.
            }
            return result
        }
        if record.pieces == nil, let beside = digests(beside: path, fileSystem),
            beside.record.checksum == checksum, beside.record.totalBytes == total,
            // A repair uses the digests of the pieces to decide what it copies.
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

    /// Returns the bytes of the downloaded file that are damaged or missing.
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
    ///   - path: A directory with a manifest of `sync(_:into:options:)`, a file of such a directory, or a file that was
    ///     downloaded with ``DownloadRequest/recordsDigests``.
    ///   - body: Called with each file in order, and then, for a directory, with each file that does not belong to the set.
    /// - Throws: `invalidRequest` for a directory without a manifest and, after all files, for one whose manifest is incomplete
    ///   or damaged; `cancelled` after the task is cancelled. A problem with a file is reported as its state.
    public static func verify(
        _ path: String, _ body: @Sendable (VerifiedFile) async -> Void
    ) async throws(DownloadError) {
        let path = normalized(path)
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
        // An incomplete manifest does not show which files belong to the set.
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

    /// Returns the download that repairs a file: it fetches the bytes that differ, and replaces the file in one step. The new
    /// bytes are proven by the validator of the first download or by the digest. The file is not changed before that.
    ///
    /// First copies the intact bytes to a file beside the original, and syncs and compares the copy.
    ///
    /// - Parameters:
    ///   - file: A damaged, changed or missing file, as returned by ``verify(_:_:)``.
    ///   - template: The options of the request; its sources, if any, replace those of the record.
    /// - Throws: `notResumable` if there is no URL, or no record that belongs to this user; `conflict` while another download uses
    ///   the name; `disk` if the file cannot be read or belongs to another user.
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
        // For a different server the digest decides, because a validator is valid on its own server only.
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

    /// Throws if the file, or the manifest that lists a missing file, belongs to another user, because only the owner may
    /// repair a file.
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

    /// Creates the directory of a missing file of a set, in case it is missing too.
    private static func makeDirectory(of path: String, in root: String) async throws(DownloadError) {
        try await EngineProvider.files.run { disk throws(DownloadError) in
            do throws(FileError) {
                try disk.fileSystem(within: root).makeDirectories(FilePath(path).parent, syncs: true)
            } catch { throw DownloadError(error) }
        }
    }
}
