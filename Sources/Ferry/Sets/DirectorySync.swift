public import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// What a sync does, besides fetching what is missing or has changed.
public struct SyncOptions: Sendable, Hashable {
    /// Which of the listed files are wanted. Default all.
    public var filter = SetFilter()
    /// The maximum depth of directories below an index page that are read, 0 for none; `nil` for no limit but 64.
    public var maxDepth: Int?
    /// The URL that relative names in a list are below; `nil` for that of the list itself.
    public var base: DownloadURL?
    /// Whether files of the set that the source does not list any more are deleted here, if they are unchanged. Default
    /// false.
    public var deletesGone = false
    /// Whether files are replaced that are there and were not downloaded by this set, or were changed since. Default
    /// false: such a file is left, and is incomplete.
    public var replacesOthers = false
    /// What every file is requested with: header fields, credentials, limits, connection; not its sources, destination
    /// and conflict rule. Secrets are sent to the server of the source alone.
    public var request = DownloadRequest(sources: [], destination: .directory(""))

    public init() {}
}

/// The outcome of a sync.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The number of files that the source lists.
    public var listedCount = 0
    /// The number of files that were complete and current.
    public var unchangedCount = 0
    /// The number of files that were fetched.
    public var fetchedCount = 0
    /// The bytes that were received.
    public var receivedBytes: ByteCount = 0
    /// The paths of files that are missing or not current, sorted.
    public var incomplete: [String] = []
    /// Why each of them is, by path.
    public var reasons: [String: String] = [:]
    /// The paths of files that the source does not list any more and that are still here, sorted.
    public var gone: [String] = []
    /// The paths of files that were deleted here, sorted.
    public var deleted: [String] = []
    /// What of the source cannot be used: one line each.
    public var problems: [String] = []

    /// Whether the directory has every file of the source, proven as far as the source allows.
    public var isComplete: Bool { incomplete.isEmpty && problems.isEmpty }
}

/// Makes a directory a copy of a set of files: requests what is missing or has changed, and keeps a manifest.
///
///     list ─► plan (manifest, files) ─► requests ─► manager ─► completed ─► manifest
///
/// One instance is one run. ``DownloadManager/sync(_:into:options:)`` does all of it; a program that shows progress
/// adds ``requests`` to a manager itself, passes each end on, and calls ``finish()``.
public final class DirectorySync: Sendable {
    /// The downloads of this run, in the order of the list; their destinations are below the directory.
    public let requests: [DownloadRequest]
    /// The absolute path of the directory.
    public let directory: String
    private let plan: SyncPlan
    private let listing: SetListing
    private let options: SyncOptions
    private struct State {
        /// The records of this run, by path.
        var records: [String: FileRecord] = [:]
        var report = SyncReport()
    }
    private let state: Mutex<State>
    /// Locked on file threads alone; `nil` after the end.
    private let manifest: Mutex<Manifest?>
    /// The records of the last sync, by path.
    private let earlier: [String: FileRecord]
    /// Paths below the directory, by the absolute paths of files.
    private let entries: [String: SetEntry]

    /// Reads the list, compares it with the directory, and opens the manifest.
    ///
    /// - Throws: `conflict` while another sync of the directory runs; an error of the server or the list; `disk`.
    public init(
        of source: SetSource, into directory: String, options: SyncOptions, manager: DownloadManager
    ) async throws(DownloadError) {
        let root = DownloadManager.absolute(directory)
        self.directory = root
        var options = options
        let home: Origin?
        switch source {
        case .url(let url):
            (home, options.request.sources) = (url.origin, [url])
            options.request.credentials = options.request.credentials ?? url.credentials
        case .file(_, let base): home = (base ?? options.base)?.origin
        case .entries: home = options.base?.origin
        }
        let listing = try await SetReader(manager: manager, options: options).read(source)
        (self.listing, self.options) = (listing, options)
        let opened = try await EngineProvider.files.run { [options] disk throws(DownloadError) in
            try Self.open(FilePath(root), listing, options, disk)
        }
        (plan, earlier) = (opened.plan, opened.manifest.records)
        manifest = Mutex(opened.manifest)
        var state = State()
        state.report.listedCount = listing.entries.count
        state.report.problems = listing.problems.map(\.description)
        var (requests, entries): ([DownloadRequest], [String: SetEntry]) = ([], [:])
        for step in plan.steps {
            switch step {
            case .keep(let record):
                state.records[record.path] = record
                state.report.unchangedCount += 1
            case .conflict(let entry):
                let path = Paths.join(root, entry.path)
                let error = DownloadError(.conflict, ErrorPhrase(.thereAlready, path), recovery: .needsUser)
                state.records[entry.path] = Self.incomplete(entry, earlier, error.message)
            case .request(let entry, let replaces):
                if let error = opened.failures[Paths.parent(of: entry.path)] {
                    state.records[entry.path] = Self.incomplete(entry, earlier, error.message)
                    continue
                }
                let request = Self.request(entry, replaces, in: root, options.request, home: home)
                if case .file(let path) = request.destination { entries[path] = entry }
                requests.append(request)
            }
        }
        (self.requests, self.entries) = (requests, entries)
        self.state = Mutex(state)
    }

    private static func request(
        _ entry: SetEntry, _ replaces: Bool, in root: String, _ template: DownloadRequest, home: Origin?
    ) -> DownloadRequest {
        var request = template
        if let home { request.secretsOrigin = home } else { request = request.withoutSecrets }
        request.sources = entry.sources
        request.destination = .file(Paths.join(root, entry.path))
        request.root = root
        request.onConflict = replaces ? .overwrite : .fail
        (request.checksum, request.expectedBytes, request.pieces) = (entry.checksum, entry.totalBytes, entry.pieces)
        request.recordsDigests = true
        return request
    }

    private static func open(
        _ root: FilePath, _ listing: SetListing, _ options: SyncOptions, _ disk: Disk
    ) throws(DownloadError) -> (plan: SyncPlan, manifest: Manifest, failures: [String: DownloadError]) {
        do throws(FileError) { try disk.fileSystem.makeDirectories(root, syncs: true) } catch {
            throw DownloadError(error)
        }
        let manifest = try Manifest(in: root, fileSystem: disk.fileSystem)
        let confined = disk.fileSystem(within: root.string)
        let plan = SyncPlan(
            listing, options,
            SyncPlan.Directory(
                manifest: manifest.records, file: { LocalFile.read(root.appending($0), confined) },
                isSame: { isSame(root.appending($0.path), $0, confined) },
                isDownloaded: { isDownloaded(root.appending($0.path), from: $0.sources[0], confined) }))
        // Directories that cannot be made, as a file or link has the name: their files are incomplete, and no others.
        var failures: [String: DownloadError] = [:]
        var made: Set<String> = []
        for case .request(let entry, _) in plan.steps {
            let parent = Paths.parent(of: entry.path)
            guard entry.path.utf8.contains(UInt8(ascii: "/")), made.insert(parent).inserted else { continue }
            do throws(FileError) { try confined.makeDirectories(root.appending(parent), syncs: true) } catch {
                failures[parent] = DownloadError(.conflict, error.phrase, recovery: .needsUser)
            }
        }
        return (plan, manifest, failures)
    }

    /// Whether a file has the bytes of its record. If it has, it gets its recorded time again, by which it is known.
    private static func isSame(_ path: FilePath, _ record: FileRecord, _ fileSystem: any FileSystem) -> Bool {
        guard let checksum = record.checksum, let total = record.totalBytes,
            let file = try? fileSystem.openOurs(path, .readOnly, for: .content)
        else { return false }
        defer { file.close() }
        guard let digest = try? ByteDigest.of(file, length: total, checksum.algorithm), digest == checksum.bytes else {
            return false
        }
        if let time = record.modified.flatMap(FileTime.init(text:)) { try? file.setModificationTime(time) }
        return LocalFile.read(path, fileSystem)?.modified == record.modified
    }

    private static func isDownloaded(_ path: FilePath, from url: DownloadURL, _ fileSystem: any FileSystem) -> Bool {
        guard let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else { return false }
        defer { file.close() }
        guard let status = try? file.status() else { return false }
        return SourceAttribute.read(file)?.matches(url: url.text, status) ?? false
    }

    // MARK: Ends of downloads

    /// Notes a completed download of ``requests``.
    public func completed(_ file: FinishedDownload) async {
        guard let entry = entries[file.path] else { return }
        let problem = await EngineProvider.files.run { [self] disk -> DownloadError? in
            do throws(DownloadError) {
                var record = try self.record(of: file, entry, disk)
                // A 304 proves no less than what was known before.
                if file.wasAlreadyComplete, let old = earlier[record.path], old.checksum == record.checksum {
                    record.proof = [record.proof, old.proof].compactMap(\.self).max()
                }
                try manifest.withLock { manifest throws(DownloadError) in try manifest?.append(record) }
                state.withLock { [record] state in
                    if file.wasAlreadyComplete {
                        state.report.unchangedCount += 1
                    } else {
                        state.report.fetchedCount += 1
                    }
                    state.records[record.path] = record
                    state.report.receivedBytes = state.report.receivedBytes.adding(file.receivedBytes)
                }
                return nil
            } catch { return error }
        }
        if let problem { note("\(entry.path): \(problem.message)") }
    }

    private func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord
    {
        let path = FilePath(file.path)
        var record = FileRecord(path: entry.path, urls: entry.sources.map { $0.with(nil).text })
        (record.etag, record.lastModified, record.proof) = (file.etag, file.lastModified, file.proof)
        record.completedAt = Date()
        do throws(FileError) {
            let opened = try disk.fileSystem(within: directory).openOurs(path, .readOnly, for: .content)
            defer { opened.close() }
            let status = try opened.status()
            (record.totalBytes, record.modified) = (status.length, status.modified.text)
            record.checksum = file.checksum
            if record.checksum == nil {
                let digest = try ByteDigest.of(opened, length: status.length, .sha256)
                record.checksum = Checksum(algorithm: .sha256, bytes: digest)
            }
        } catch { throw DownloadError(error) }
        return record
    }

    /// Notes a download of ``requests`` that ended without its file.
    public func failed(_ error: DownloadError, path: String) {
        guard let entry = entries[path] else { return }
        let record = Self.incomplete(entry, earlier, error.message)
        state.withLock { $0.records[entry.path] = record }
    }

    private func note(_ problem: String) { state.withLock { $0.report.problems.append(problem) } }

    // MARK: The end

    /// Deletes what is gone, if that is asked for and the list was read whole; replaces the manifest.
    public func finish() async throws(DownloadError) -> SyncReport {
        try await EngineProvider.files.run { [self] disk throws(DownloadError) in
            var (records, report) = state.withLock { ($0.records, $0.report) }
            guard let manifest = manifest.withLock({ $0.take() }) else { return report }
            var kept: [FileRecord] = []
            for record in plan.gone {
                let isDeleted = options.deletesGone && listing.problems.isEmpty && delete(record, disk)
                if isDeleted { report.deleted.append(record.path) } else { kept.append(record) }
            }
            report.gone = kept.map(\.path)
            for entry in listing.entries {
                let record = records[entry.path] ?? Self.incomplete(entry, earlier, "the sync was stopped before")
                if record.problem != nil || record.proof == nil {
                    report.incomplete.append(entry.path)
                    report.reasons[entry.path] = record.problem
                }
                records[entry.path] = record
            }
            report.incomplete.sort()
            try manifest.replace(by: listing.entries.compactMap { records[$0.path] } + kept + plan.others)
            state.withLock { [report] in $0.report = report }
            return report
        }
    }

    /// The record of a file that is not complete; what is known of an earlier version stays.
    private static func incomplete(
        _ entry: SetEntry, _ earlier: [String: FileRecord], _ problem: String
    ) -> FileRecord {
        var record = earlier[entry.path] ?? FileRecord(path: entry.path)
        record.urls = entry.sources.map { $0.with(nil).text }
        record.problem = problem
        return record
    }

    /// Deletes a file of the set that is unchanged since it was downloaded, with its digests.
    private func delete(_ record: FileRecord, _ disk: Disk) -> Bool {
        let path = FilePath(directory).appending(record.path)
        let fileSystem = disk.fileSystem(within: directory)
        guard let file = LocalFile.read(path, fileSystem), record.isOf(file),
            let published = try? PublishedFile.read(path.string, fileSystem: fileSystem),
            (try? PublishedFile.delete(path.string, ifUnchangedSince: published, fileSystem: fileSystem)) != nil
        else { return false }
        DigestFile.remove(of: path, fileSystem: fileSystem)
        return true
    }
}

extension SyncPlan.LocalFile {
    /// The regular file at a path; `nil` if there is none, or an error.
    static func read(_ path: FilePath, _ fileSystem: any FileSystem) -> SyncPlan.LocalFile? {
        guard let status = try? fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
        return SyncPlan.LocalFile(totalBytes: status.length, modified: status.modified.text)
    }
}

private typealias LocalFile = SyncPlan.LocalFile

extension DownloadManager {
    /// Makes a directory a copy of a set of files, and returns when every download has ended.
    ///
    /// Files that are complete and current are not fetched again. A run that was stopped or killed is continued by the
    /// next one.
    ///
    /// - Throws: What prevents the whole run; files that fail are in the report.
    public func sync(
        _ source: SetSource, into directory: String, options: SyncOptions = SyncOptions()
    ) async throws(DownloadError) -> SyncReport {
        let sync = try await DirectorySync(of: source, into: directory, options: options, manager: self)
        await withTaskGroup(of: Void.self) { group in
            var next = 0
            func start() {
                guard next < sync.requests.count, !Task.isCancelled else { return }
                let request = sync.requests[next]
                next += 1
                group.addTask {
                    guard case .file(let path) = request.destination else { return }
                    do throws(DownloadError) {
                        let download = try await self.download(request)
                        await sync.completed(try await download.finished())
                        try? await download.remove()
                    } catch { sync.failed(error, path: path) }
                }
            }
            for _ in 0..<max(64, 4 * min(1 << 16, configuration.maxConcurrentDownloads)) { start() }
            for await _ in group { start() }
        }
        return try await sync.finish()
    }
}
