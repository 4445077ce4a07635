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
    /// Whether names are made safe for every file system, as those that servers suggest. Otherwise only those are changed
    /// that this system or Ferry would take for something else. Default false.
    public var safeNames = false
    /// Whether a file is taken for unchanged, and its server is not asked, if the list has the date and the size that it had
    /// when the file was last fetched or found current. Default false.
    public var trustsListing = false
    /// Whether files of the set that the source does not list any more are deleted here, if they are unchanged. Default
    /// false.
    public var deletesGone = false
    /// The most files that ``deletesGone`` deletes. If more have gone, none is deleted, and that is a problem: a source that
    /// has lost most of its files is more often broken than tidied up. `nil`: half of a set of more than ten files, and all
    /// of a smaller one. Default `nil`.
    public var maxDeletions: DeletionLimit?
    /// The directory below which a file is kept, at its path, that is replaced or deleted; the one that was kept there before
    /// is replaced. It may be anywhere but in the set, so inside the directory of the set only if ``filter`` excludes it.
    /// `nil`: such files are not kept. Default `nil`.
    public var backupDirectory: String?
    /// Whether files are replaced that are there and were not downloaded by this set, or were changed since. Default
    /// false: such a file is left, and is incomplete.
    public var replacesOthers = false
    /// The directory that the set may not leave, which contains its own: no link below it is followed. `nil`: the directory
    /// of the set itself. Default `nil`.
    public var root: String?
    /// How long the lists of the source may take; `nil` for no limit. What is not listed by then is a problem. Default
    /// `nil`.
    public var listingTime: Duration?
    /// What every file is requested with: header fields, credentials, limits, connection; not its sources, destination
    /// and conflict rule. Secrets are sent to the server of the source alone.
    public var request = DownloadRequest(sources: [], destination: .directory(""))

    public init() {}
}

/// How many files of a set a sync may delete.
public enum DeletionLimit: Sendable, Hashable {
    case count(Int)
    /// Of the files that the last sync has recorded.
    case percent(Int)

    /// Reads `N` or `P%`; `nil` unless N is 0 or more, and P at most 100.
    public init?(_ text: String) {
        let isShare = text.utf8.last == UInt8(ascii: "%")
        let digits = isShare ? text.dropLast() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            !isShare || number <= 100
        else { return nil }
        self = isShare ? .percent(number) : .count(number)
    }

    /// Returns the most files of a set of `count` that may be deleted.
    func most(of count: Int) -> Int {
        switch self {
        case .count(let most): most
        case .percent(let share): count / 100 * share + count % 100 * share / 100
        }
    }
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
    public var errors: [String: DownloadError] = [:]
    /// The paths of files that the source does not list any more and that are still here, sorted.
    public var gone: [String] = []
    /// The paths of files that were deleted here, sorted.
    public var deleted: [String] = []
    /// What of the source cannot be used: one line each.
    public var problems: [String] = []
    /// The paths in the source of files that have other names here, by their paths here: a name with control characters, or
    /// that means something to Ferry, is changed.
    public var renamed: [String: String] = [:]
    /// The patterns of the filter that match no file of the source.
    public var unusedPatterns: [String] = []

    /// Whether the directory has every file of the source, proven as far as the source allows.
    public var isComplete: Bool { incomplete.isEmpty && problems.isEmpty }
}

/// The progress of a sync.
package struct SyncProgress: Sendable, Hashable {
    /// The number of files that the source lists.
    package var files: Int
    /// The number of files that are complete and current.
    package var done: Int
    /// The number of files that have ended otherwise.
    package var failed: Int
    /// The bytes of the files that were fetched.
    package var receivedBytes: ByteCount
}

/// Makes a directory a copy of a set of files: requests what is missing or has changed, and keeps a manifest.
///
///     list ─► plan (manifest, files) ─► requests ─► manager ─► completed ─► manifest
///
/// One instance is one run. ``DownloadManager/sync(_:into:options:)`` does all of it; a program that shows progress
/// adds ``requests`` to a manager itself, passes each end on, and calls ``finish()``.
public final class DirectorySync: Sendable {
    /// The downloads of this run; their destinations are below the directory. What is missing or has changed comes first,
    /// so that a run that is stopped again and again gets on; each part is in the order of the list.
    public let requests: [DownloadRequest]
    /// The absolute path of the directory.
    public let directory: String
    /// The absolute path of the directory below which files are kept that are replaced or deleted.
    package var backupDirectory: String? { options.backupDirectory }
    /// The maximum number of files that are requested and have not ended.
    let window: Int
    private let plan: SyncPlan
    private let listing: SetListing
    private let options: SyncOptions
    private struct State {
        /// The records of this run, by path.
        private(set) var records: [FilePath: FileRecord] = [:]
        /// Of the records that are not complete.
        private(set) var errors: [FilePath: DownloadError] = [:]
        var report = SyncReport()

        mutating func note(_ record: FileRecord) { (records[record.key], errors[record.key]) = (record, nil) }

        /// Notes a file that is not complete; what is known of an earlier version of it stays.
        mutating func fail(_ entry: SetEntry, _ earlier: [FilePath: FileRecord], _ error: DownloadError) {
            var record = earlier[entry.key] ?? FileRecord(path: entry.path)
            record.urls = entry.sources.map { $0.with(nil).text }
            record.listedPath = entry.otherName
            record.problem = error.message
            (records[entry.key], errors[entry.key]) = (record, error)
        }
    }
    private let state: Mutex<State>
    /// Locked on file threads alone; `nil` after the end.
    private let manifest: Mutex<Manifest?>
    /// The records of the last sync, by path.
    private let earlier: [FilePath: FileRecord]
    /// Paths below the directory, by the absolute paths of files.
    private let entries: [FilePath: SetEntry]

    /// Reads the list, compares it with the directory, and opens the manifest.
    ///
    /// - Throws: `conflict` while another sync of the directory runs; an error of the server or the list; `disk`.
    public convenience init(
        of source: SetSource, into directory: String, options: SyncOptions, manager: DownloadManager
    ) async throws(DownloadError) {
        try await self.init(of: source, into: directory, options: options, manager: manager) { _, _ in }
    }

    /// As ``init(of:into:options:manager:)``.
    ///
    /// - Parameter retrying: Told when a part of the list is asked for again.
    package init(
        of source: SetSource, into directory: String, options: SyncOptions, manager: DownloadManager,
        retrying: @escaping @Sendable (_ event: LocalizedEvent, _ url: DownloadURL) -> Void
    ) async throws(DownloadError) {
        let root = DownloadManager.absolute(directory)
        self.directory = root
        window = max(64, 4 * min(1 << 16, manager.configuration.maxConcurrentDownloads))
        var options = options
        let home: Origin?
        switch source {
        case .url(let url):
            home = url.origin
            options.use(url)
        case .file(_, let base): home = (base ?? options.base)?.origin
        case .entries: home = options.base?.origin
        }
        options.backupDirectory = options.backupDirectory.map { DownloadManager.absolute($0) }
        try await EngineProvider.files.run { [options] _ throws(DownloadError) in
            try options.checkBackup(beside: FilePath(root))
        }
        let listing = try await SetReader(manager: manager, options: options, retrying: retrying).read(source)
        (self.listing, self.options) = (listing, options)
        let opened = try await EngineProvider.files.run { [options] disk throws(DownloadError) in
            try Self.open(FilePath(root), listing, options, disk)
        }
        (plan, earlier) = (opened.plan, opened.manifest.records)
        manifest = Mutex(opened.manifest)
        var state = State()
        state.report.listedCount = listing.entries.count
        state.report.unusedPatterns = listing.unusedPatterns
        state.report.problems = (listing.problems + plan.problems).map(\.description)
        for entry in listing.entries { state.report.renamed[entry.path] = entry.otherName }
        var (requests, asked, entries): ([DownloadRequest], [DownloadRequest], [FilePath: SetEntry]) = ([], [], [:])
        for step in plan.steps {
            switch step {
            case .keep(let record):
                state.note(record)
                state.report.unchangedCount += 1
            case .blocked(let entry):
                let path = Paths.join(root, entry.path)
                state.fail(entry, earlier, DownloadError(.conflict, ErrorPhrase(.inTheWay, path), recovery: .needsUser))
            case .changedHere(let entry):
                let path = Paths.join(root, entry.path)
                let error = DownloadError(
                    .conflict, ErrorPhrase(.changedHere, path), suggestion: ErrorPhrase(.overwriteOrRepair),
                    recovery: .needsUser)
                state.fail(entry, earlier, error)
            case .conflict(let entry):
                let path = Paths.join(root, entry.path)
                let error = DownloadError(.conflict, ErrorPhrase(.thereAlready, path), recovery: .needsUser)
                state.fail(entry, earlier, error)
            case .request(let entry, let cause):
                if let error = opened.failures[entry.key.removingLastComponent()] {
                    state.fail(entry, earlier, error)
                    continue
                }
                let request = Self.request(entry, cause, in: root, options, home: home)
                if case .file(let path) = request.destination { entries[FilePath(path)] = entry }
                if cause.isOfPresent { asked.append(request) } else { requests.append(request) }
            }
        }
        (self.requests, self.entries) = (requests + asked, entries)
        self.state = Mutex(state)
    }

    private static func request(
        _ entry: SetEntry, _ cause: SyncPlan.Cause, in root: String, _ options: SyncOptions, home: Origin?
    ) -> DownloadRequest {
        var request = options.request
        // allow(secrets): the server of the source; files of others get none.
        if let home { request.secretsOrigin = home } else { request = request.withoutSecrets }
        request.sources = entry.sources
        request.destination = .file(Paths.join(root, entry.path))
        request.root = options.root ?? root
        request.onConflict = cause.replaces ? .overwrite : .fail
        request.keptCopy = options.keptCopy(of: entry.path)
        (request.checksum, request.expectedBytes, request.pieces) = (entry.checksum, entry.totalBytes, entry.pieces)
        request.recordsDigests = true
        return request
    }

    private static func open(
        _ root: FilePath, _ listing: SetListing, _ options: SyncOptions, _ disk: Disk
    ) throws(DownloadError) -> (plan: SyncPlan, manifest: Manifest, failures: [FilePath: DownloadError]) {
        let outer = disk.fileSystem(within: options.root)
        do throws(FileError) { try outer.makeDirectories(root, syncs: true) } catch {
            throw DownloadError(error)
        }
        let manifest = try Manifest(in: root, fileSystem: outer)
        let confined = disk.fileSystem(within: options.root ?? root.string)
        let plan = SyncPlan(
            listing, options, .init(root, manifest.records, confined, restoringTimes: true))
        // Directories that cannot be made, as a file or link has the name: their files are incomplete, and no others.
        var failures: [FilePath: DownloadError] = [:]
        var made: Set<FilePath> = []
        for case .request(let entry, _) in plan.steps {
            let parent = entry.key.removingLastComponent()
            guard !parent.isEmpty, made.insert(parent).inserted else { continue }
            do throws(FileError) { try confined.makeDirectories(root.pushing(parent), syncs: true) } catch {
                failures[parent] = DownloadError(.conflict, error.phrase, recovery: .needsUser)
            }
        }
        // Nothing depends on an empty directory.
        for path in listing.emptyDirectories { try? confined.makeDirectories(root.appending(path), syncs: false) }
        return (plan, manifest, failures)
    }

    // MARK: Ends of downloads

    /// Notes a completed download of ``requests``.
    public func completed(_ file: FinishedDownload) async {
        guard let entry = entries[FilePath(file.path)] else { return }
        let problem = await EngineProvider.files.run { [self] disk -> DownloadError? in
            do throws(DownloadError) {
                var record = try self.record(of: file, entry, disk)
                // A 304 proves no less than what was known before.
                if file.wasAlreadyComplete, let old = earlier[record.key], old.checksum == record.checksum {
                    record.proof = [record.proof, old.proof].compactMap(\.self).max()
                }
                try manifest.withLock { manifest throws(DownloadError) in try manifest?.append(record) }
                state.withLock { [record] state in
                    if file.wasAlreadyComplete {
                        state.report.unchangedCount += 1
                    } else {
                        state.report.fetchedCount += 1
                    }
                    state.note(record)
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
        record.listedPath = entry.otherName
        (record.etag, record.lastModified, record.proof) = (file.etag, file.lastModified, file.proof)
        record.completedAt = Date()
        do throws(FileError) {
            let opened = try fileSystem(disk).openOurs(path, .readOnly, for: .content)
            defer { opened.close() }
            let status = try opened.status()
            (record.totalBytes, record.modified) = (status.length, status.modified.text)
            // A row with another size is not of these bytes.
            let rowBytes = entry.row?.totalBytes ?? status.length
            if rowBytes == status.length { record.listed = entry.listed }
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
        guard let entry = entries[FilePath(path)] else { return }
        state.withLock { $0.fail(entry, earlier, error) }
    }

    /// The progress of the run.
    package var progress: SyncProgress {
        state.withLock { state in
            let report = state.report
            return SyncProgress(
                files: report.listedCount, done: report.unchangedCount + report.fetchedCount,
                failed: state.errors.count, receivedBytes: report.receivedBytes)
        }
    }

    /// Where no link below the directory, or below the one that it may not leave, is followed.
    private func fileSystem(_ disk: Disk) -> any FileSystem {
        disk.fileSystem(within: options.root ?? directory, and: options.backupDirectory)
    }

    private func note(_ problem: String) { state.withLock { $0.report.problems.append(problem) } }

    // MARK: The end

    /// Deletes what is gone, if that is asked for and the list was read whole; replaces the manifest.
    public func finish() async throws(DownloadError) -> SyncReport {
        try await EngineProvider.files.run { [self] disk throws(DownloadError) in
            guard let manifest = manifest.withLock({ $0.take() }) else { return state.withLock(\.report) }
            let stopped = DownloadError(.cancelled, ErrorPhrase(.stopped))
            let (records, ended) = state.withLock { state in
                for entry in listing.entries where state.records[entry.key] == nil {
                    state.fail(entry, earlier, stopped)
                }
                state.report.errors = Dictionary(state.errors.map { ($0.key.string, $0.value) }) { first, _ in first }
                return (state.records, state.report)
            }
            var report = ended
            var kept: [FileRecord] = []
            for file in plan.gone {
                do throws(FileError) {
                    if file.isDeleted, try delete(file.record, disk) {
                        report.deleted.append(file.record.path)
                        continue
                    }
                } catch { report.problems.append(error.message) }
                kept.append(file.record)
            }
            report.gone = kept.map(\.path)
            report.incomplete = listing.entries.filter {
                records[$0.key]?.problem != nil || records[$0.key]?.proof == nil
            }.map(\.path).sorted()
            try manifest.replace(by: listing.entries.compactMap { records[$0.key] } + kept + plan.others)
            state.withLock { [report] in $0.report = report }
            return report
        }
    }

    /// Deletes a file of the set that is unchanged since it was downloaded, with its digests. Size and time alone prove
    /// nothing: a server makes them public.
    ///
    /// - Throws: Why it cannot be kept.
    private func delete(_ record: FileRecord, _ disk: Disk) throws(FileError) -> Bool {
        let path = FilePath(directory).appending(record.path)
        let fileSystem = fileSystem(disk)
        guard let file = SyncPlan.LocalFile.read(path, fileSystem), record.isOf(file),
            let published = try? PublishedFile.read(path.string, fileSystem: fileSystem),
            SyncPlan.Directory.isProven(record, at: path, fileSystem)
        else { return false }
        if let copy = options.keptCopy(of: record.path) {
            let keeper = FileKeeper(fileSystem: fileSystem, syncs: options.request.syncsToDisk)
            guard try keeper.keep(path, as: copy) == published else { return false }
        }
        guard (try? PublishedFile.delete(path.string, ifUnchangedSince: published, fileSystem: fileSystem)) != nil
        else {
            return false
        }
        DigestFile.remove(of: path, fileSystem: fileSystem)
        return true
    }
}
