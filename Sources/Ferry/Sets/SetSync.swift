public import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

/// The options of a sync.
public struct SyncOptions: Sendable, Hashable {
    /// Selects among the listed files. Default: all.
    public var filter = SetFilter()
    /// The maximum depth of directories that are read below an index page or a local directory; 0 for none. `nil`: no limit except
    /// 64, beyond which a problem is reported. Default `nil`.
    public var maxDepth: Int?
    /// The URL against which relative names in a list are resolved; `nil` for the URL of the list itself.
    public var base: DownloadURL?
    /// Whether names are made safe for every file system, as names that servers suggest are. Otherwise only names that have a
    /// special meaning to this system or to Ferry are changed. Default false.
    public var safeNames = false
    /// Whether a file counts as unchanged, without a request to its server, if its date and size in the list are the same as
    /// when the file was last fetched or found current. Default false.
    public var trustsListing = false
    /// Whether unchanged files of the set are deleted from the destination when the source no longer lists them. Default false.
    public var deletesGone = false
    /// The maximum number of files that ``deletesGone`` deletes. If more are gone, none is deleted and a problem is reported,
    /// because a source that has lost most of its files is more often broken than tidied up. `nil`: half of a set of more than
    /// ten files, and all of a smaller one. Default `nil`.
    public var maxDeletions: DeletionLimit?
    /// The directory in which replaced and deleted files are kept, at their relative paths. A file that was kept at the same
    /// path before is replaced. The directory may be inside that of the set only if ``filter`` excludes it. `nil`: such files
    /// are not kept. Default `nil`.
    public var backupDirectory: String?
    /// Whether to replace existing files that this set has not downloaded, or that were changed since. Default false: such a
    /// file is left as it is, and the file of the set is reported as incomplete.
    public var replacesOthers = false
    /// A directory that contains the directory of the set, and that the set must not leave: no link below it is followed.
    /// `nil`: the directory of the set itself. Default `nil`.
    public var root: String?
    /// The maximum time for reading the lists of the source; `nil` for no limit. If it is exceeded, a problem is reported.
    /// Default `nil`.
    public var listingTime: Duration?
    /// The template for every request: header fields, credentials, limits, connection. Its sources, destination and conflict
    /// rule are ignored. Secrets are sent only to the server of the source.
    public var request = DownloadRequest(sources: [], destination: .directory(""))

    public init() {}
}

/// The maximum number of files of a set that a sync may delete.
public enum DeletionLimit: Sendable, Hashable {
    case count(Int)
    /// A percentage of the files that the last sync has recorded.
    case percent(Int)

    /// Parses `N` or `P%`. Returns `nil` unless N is at least 0, or P from 0 to 100.
    public init?(_ text: String) {
        let isShare = text.utf8.last == UInt8(ascii: "%")
        let digits = isShare ? text.dropLast() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            !isShare || number <= 100
        else { return nil }
        self = isShare ? .percent(number) : .count(number)
    }

    /// Returns the number of files that may be deleted from a set of `count` files.
    func most(of count: Int) -> Int {
        switch self {
        case .count(let most): most
        case .percent(let share): count / 100 * share + count % 100 * share / 100
        }
    }
}

/// The progress of a sync.
package struct SyncProgress: Sendable, Hashable {
    /// The number of files that the source lists.
    package var files: Int
    /// The number of files that are complete and current.
    package var done: Int
    /// The number of files that have failed.
    package var failed: Int
    /// The bytes of the files that were fetched.
    package var receivedBytes: ByteCount
}

/// Makes a directory, or the prefix of a bucket, a copy of a set of files: requests missing and changed files, and maintains a
/// manifest.
///
///     list ─► plan (manifest, files) ─► requests ─► manager ─► completed ─► manifest
///                                    └► files of a directory ─► upload() ─┘
///
/// One instance is one run. ``DownloadManager/sync(_:into:options:)-(_,SyncDestination,_)`` performs the whole run. A program
/// that shows progress instead adds ``requests`` to a manager itself, reports the end of each to ``completed(_:)`` or
/// ``failed(_:path:)``, calls ``upload()``, and then ``finish()``.
public final class SetSync: Sendable {
    /// The downloads of this run: first missing and changed files, then files to be compared, so that a run that is repeatedly
    /// stopped makes progress. Both parts are in the order of the list.
    public let requests: [DownloadRequest]
    /// The files of a directory that this run stores, in the same order.
    package let uploads: [SetUpload]
    /// Whether the source is a local directory.
    package let isOfDirectory: Bool
    /// The destination, with absolute, normalized paths.
    public let destination: SyncDestination
    /// The absolute, normalized path of the directory in which replaced and deleted files are kept.
    package var backupDirectory: String? { options.backupDirectory }
    /// The maximum number of files that are requested and have not ended.
    let window: Int
    /// The maximum number of files of a directory that are stored at the same time.
    let parallelUploads: Int
    private let place: any SyncPlace
    /// `place`, if it is the prefix of a bucket.
    private let objects: ObjectPlace?
    private let listing: SetListing
    private let options: SyncOptions
    private struct State {
        /// The records of this run, by path.
        private(set) var records: [FilePath: FileRecord] = [:]
        /// The errors of the incomplete files, by path.
        private(set) var errors: [FilePath: DownloadError] = [:]
        var report = SyncReport()

        mutating func note(_ record: FileRecord) { (records[record.key], errors[record.key]) = (record, nil) }

        /// Records a file that is not complete, and keeps the record of an earlier version of the file.
        mutating func fail(_ entry: SetEntry, _ earlier: [FilePath: FileRecord], _ error: DownloadError) {
            var record = earlier[entry.key] ?? FileRecord(path: entry.path)
            record.setURLs(entry.urls)
            record.listedPath = entry.otherName
            record.problem = error.message
            (records[entry.key], errors[entry.key]) = (record, error)
        }
    }
    private let state: Mutex<State>
    /// Locked on file threads only; `nil` after ``finish()``.
    private let manifest: Mutex<Manifest?>
    /// The entries by file path. Entries that are stored as objects are also listed by URL.
    private let entries: [FilePath: SetEntry]

    /// Reads the list, compares it with the destination, and opens the manifest.
    ///
    /// - Throws: `conflict` while another sync of the directory is running; an error of the server or the list; `disk`.
    public convenience init(
        of source: SetSource, into destination: SyncDestination, options: SyncOptions, manager: DownloadManager
    ) async throws(DownloadError) {
        try await self.init(of: source, into: destination, options: options, manager: manager) { _ in }
    }

    /// Like ``init(of:into:options:manager:)``, but reports retries.
    ///
    /// - Parameter retrying: Called when a request for a part of the list has failed and is to be sent again, and once more when the
    ///   delay has passed.
    package init(
        of source: SetSource, into destination: SyncDestination, options: SyncOptions, manager: DownloadManager,
        retrying: @escaping @Sendable (ListRetry) -> Void
    ) async throws(DownloadError) {
        let destination = destination.normalized
        self.destination = destination
        parallelUploads = max(1, min(1 << 16, manager.configuration.maxConcurrentDownloads))
        window = max(64, 4 * min(1 << 16, manager.configuration.maxConcurrentDownloads))
        var options = options
        isOfDirectory = if case .directory = source { true } else { false }
        let home: Origin?
        switch source {
        case .url(let url): home = url.origin
        case .file(_, let base): home = (base ?? options.base)?.origin
        case .directory: home = nil
        case .entries: home = options.base?.origin
        }
        try await options.prepare(source, destination)
        var reader = SetReader(manager: manager, options: options, retrying: retrying)
        if case .objects(_, let staging) = destination { reader.excluded = [FilePath(staging)] }
        var listing = try await reader.read(source)
        let opened: (place: any SyncPlace, manifest: Manifest)
        var objects: ObjectPlace?
        switch destination {
        case .directory(let path):
            opened = try await EngineProvider.files.run { [options, listing] disk throws(DownloadError) in
                try DirectoryPlace.open(FilePath(path), listing, options, disk)
            }
        case .objects(let prefix, let staging):
            listing.leaveOut(belowPrefix: prefix)
            let there = try await ObjectPlace.open(prefix, staging, listing, options, manager, retrying)
            (opened, objects) = ((there.place, there.manifest), there.place)
        }
        (self.listing, self.options, place, self.objects) = (listing, options, opened.place, objects)
        manifest = Mutex(opened.manifest)
        let (plan, earlier) = (opened.place.plan, opened.place.earlier)
        var state = State()
        state.report.listedCount = listing.entries.count
        state.report.unusedPatterns = listing.unusedPatterns
        state.report.problems = (listing.problems + plan.problems).map(\.description)
        state.report.renamed = listing.entries.compactMap { entry in
            entry.otherName.map { RenamedFile(path: entry.path, listedPath: $0) }
        }.sorted { SetPath.precedes($0.path, $1.path) }
        state.report.skipped = listing.skippedFiles
        var (requests, asked, entries): ([DownloadRequest], [DownloadRequest], [FilePath: SetEntry]) = ([], [], [:])
        var (uploads, compared): ([SetUpload], [SetUpload]) = ([], [])
        for step in plan.steps {
            switch step {
            case .keep(let record):
                state.note(record)
                state.report.unchangedCount += 1
            case .blocked(let entry, let obstacle):
                let name = opened.place.name(of: obstacle.string)
                state.fail(entry, earlier, DownloadError(.conflict, ErrorPhrase(.inTheWay, name), recovery: .needsUser))
            case .changedHere(let entry):
                let name = opened.place.name(of: entry.path)
                let isObject = if case .objects = destination { true } else { false }
                let error = DownloadError(
                    .conflict, ErrorPhrase(.changedHere, name),
                    suggestion: ErrorPhrase(isObject ? .overwriteInSet : .overwriteOrRepair), recovery: .needsUser)
                state.fail(entry, earlier, error)
            case .conflict(let entry):
                let name = opened.place.name(of: entry.path)
                let error = DownloadError(.conflict, ErrorPhrase(.thereAlready, name), recovery: .needsUser)
                state.fail(entry, earlier, error)
            case .request(let entry, let cause):
                let failures = opened.place.failures
                if let error = failures[entry.key] ?? failures[entry.key.removingLastComponent()] {
                    state.fail(entry, earlier, error)
                    continue
                }
                var request = Self.request(entry, options, home: home)
                opened.place.complete(&request, entry, cause)
                if entry.file != nil {
                    let recorded = cause == .unproven ? earlier[entry.key]?.checksum : nil
                    let upload = SetUpload(entry, request, recorded: recorded)
                    if cause.isOfPresent { compared.append(upload) } else { uploads.append(upload) }
                    continue
                }
                if case .file(let path) = request.destination { entries[FilePath(path)] = entry }
                if let object = request.uploadTo { entries[FilePath(object.text)] = entry }
                if cause.isOfPresent { asked.append(request) } else { requests.append(request) }
            }
        }
        (self.requests, self.uploads, self.entries) = (requests + asked, uploads + compared, entries)
        self.state = Mutex(state)
    }

    private static func request(_ entry: SetEntry, _ options: SyncOptions, home: Origin?) -> DownloadRequest {
        var request = options.request
        // allow(secrets): for the server of the source; requests to other servers contain none.
        if let home { request.secretsOrigin = home } else { request = request.withoutSecrets }
        request.sources = entry.sources
        (request.checksum, request.expectedBytes, request.pieces) = (entry.checksum, entry.totalBytes, entry.pieces)
        request.recordsDigests = true
        return request
    }

    // MARK: Ends of downloads

    /// Records a completed download of ``requests``.
    public func completed(_ file: FinishedDownload) async {
        guard let entry = entries[FilePath(file.path)] else { return }
        await completed(file, entry) { [place] disk throws(DownloadError) in
            try place.record(of: file, entry, disk)
        }
    }

    private func completed(
        _ file: FinishedDownload, _ entry: SetEntry,
        _ record: (Disk) throws(DownloadError) -> FileRecord
    ) async {
        await EngineProvider.files.stay { [self] disk in
            do throws(DownloadError) {
                var record = try record(disk)
                // After a 304, the earlier proof remains valid.
                if file.wasAlreadyComplete, let old = place.earlier[record.key], old.checksum == record.checksum {
                    record.proof = [record.proof, old.proof].compactMap(\.self).max()
                }
                if place.earlier[record.key]?.states(record) != true {
                    try manifest.withLock { [record] manifest throws(DownloadError) in try manifest?.append(record) }
                }
                // Unfinished uploads are recorded in the local log only.
                record.uploadID = nil
                state.withLock { [record] state in
                    if file.wasAlreadyComplete {
                        state.report.unchangedCount += 1
                    } else {
                        state.report.fetchedCount += 1
                        if entry.file != nil {
                            state.report.storedBytes = state.report.storedBytes.adding(file.totalBytes)
                        }
                    }
                    state.note(record)
                    state.report.receivedBytes = state.report.receivedBytes.adding(file.receivedBytes)
                }
            } catch {
                state.withLock { $0.fail(entry, place.earlier, error) }
            }
        }
    }

    /// Records a download of ``requests`` that ended without completing its file.
    public func failed(_ error: DownloadError, path: String) {
        guard let entry = entries[FilePath(path)] else { return }
        state.withLock { $0.fail(entry, place.earlier, error) }
    }

    // MARK: Files of a directory

    /// Stores one of ``uploads``, and records its result.
    func store(
        _ upload: SetUpload, sent: @escaping @Sendable (ByteCount) -> Void,
        report: @escaping @Sendable (Reason) -> Void
    ) async throws(DownloadError) -> FinishedDownload {
        guard let objects else { throw DownloadError(.internal, "a directory has no objects") }
        let entry = upload.entry
        do throws(DownloadError) {
            let stored = try await objects.store(
                upload,
                note: { [self] id throws(DownloadError) in
                    try await EngineProvider.files.run { [self] _ throws(DownloadError) in
                        try manifest.withLock { manifest throws(DownloadError) in
                            try manifest?.append(objects.begun(entry, upload: id))
                            if id != nil, options.request.syncsToDisk { try manifest?.sync() }
                        }
                    }
                }, sent: sent, report: report)
            await completed(stored.file, entry) { disk throws(DownloadError) in
                try objects.record(of: stored, entry, disk)
            }
            return stored.file
        } catch {
            state.withLock { $0.fail(entry, place.earlier, error) }
            throw error
        }
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

    // MARK: The end

    /// Deletes files that are gone from the source, if this is requested and the list was read completely. Replaces the
    /// manifest.
    public func finish() async throws(DownloadError) -> SyncReport {
        // Lock the manifest on a file thread, because the record of a completed file may be written at this moment.
        guard let manifest = await EngineProvider.files.run({ _ in self.manifest.withLock { $0.take() } }) else {
            return state.withLock(\.report)
        }
        let stopped = DownloadError(.cancelled, ErrorPhrase(.stopped))
        let (records, errors, ended) = state.withLock { state in
            for entry in listing.entries where state.records[entry.key] == nil {
                state.fail(entry, place.earlier, stopped)
            }
            return (state.records, state.errors, state.report)
        }
        var report = ended
        let plan = place.plan
        let cleared = Set(place.cleared.map(\.record.key))
        let doomed = plan.gone.filter { $0.isDeleted && !cleared.contains($0.record.key) }.map(\.record)
        let deletions = place.cleared + (doomed.isEmpty ? [] : await place.delete(doomed))
        report.problems += deletions.compactMap(\.problem)
        report.deleted = deletions.filter(\.isDone).map(\.record.path)
        let deleted = Set(deletions.filter(\.isDone).map(\.record.key))
        let kept = plan.gone.map(\.record).filter { !deleted.contains($0.key) }
        report.gone = kept.map(\.path)
        report.incomplete = listing.entries.filter {
            records[$0.key]?.problem != nil || records[$0.key]?.proof == nil
        }.map { IncompleteFile(path: $0.path, error: errors[$0.key]) }.sorted { SetPath.precedes($0.path, $1.path) }
        try await place.replace(
            manifest, by: listing.entries.compactMap { records[$0.key] } + kept + plan.others, errors: errors)
        state.withLock { [report] in $0.report = report }
        return report
    }
}

extension DownloadRequest {
    /// Whether a listed download and a request of a sync agree in everything that the sync determines. The user may have changed
    /// other properties of the download, such as its limits.
    package func fetchesAsSynced(_ request: DownloadRequest) -> Bool {
        sources == request.sources && (checksum, expectedBytes) == (request.checksum, request.expectedBytes)
            && pieces == request.pieces && onConflict == request.onConflict && keptCopy == request.keptCopy
            && root == request.root
    }
}

extension FileRecord {
    /// Whether the record states the same as another one, except for the time.
    fileprivate func states(_ other: FileRecord) -> Bool {
        var same = other
        same.completedAt = completedAt
        return same == self
    }
}
