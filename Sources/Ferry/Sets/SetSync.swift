public import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

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

/// Makes a directory, or the prefix of a bucket, a copy of a set of files: requests what is missing or has changed, and keeps
/// a manifest.
///
///     list ─► plan (manifest, files) ─► requests ─► manager ─► completed ─► manifest
///                                    └► files of a directory ─► upload() ─┘
///
/// One instance is one run. ``DownloadManager/sync(_:into:options:)-(_,SyncDestination,_)`` does all of it; a program that
/// shows progress adds ``requests`` to a manager itself, passes each end on, calls ``upload()``, and then ``finish()``.
public final class SetSync: Sendable {
    /// The downloads of this run. What is missing or has changed comes first, so that a run that is stopped again and again
    /// gets on; each part is in the order of the list.
    public let requests: [DownloadRequest]
    /// The files of a directory that this run stores, in the same order.
    package let uploads: [SetUpload]
    /// Whether the source is a directory of this machine.
    package let isOfDirectory: Bool
    /// Where the files are kept, with absolute paths.
    public let destination: SyncDestination
    /// The absolute path of the directory below which files are kept that are replaced or deleted.
    package var backupDirectory: String? { options.backupDirectory }
    /// The maximum number of files that are requested and have not ended.
    let window: Int
    /// The maximum number of files of a directory that are stored at the same time.
    let parallelUploads: Int
    private let place: any SyncPlace
    /// The same place, if it is one of objects.
    private let objects: ObjectPlace?
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
            record.setURLs(entry.sources.map { $0.with(nil).text })
            record.listedPath = entry.otherName
            record.problem = error.message
            (records[entry.key], errors[entry.key]) = (record, error)
        }
    }
    private let state: Mutex<State>
    /// Locked on file threads alone; `nil` after the end.
    private let manifest: Mutex<Manifest?>
    /// The entries by the paths of their files, and of objects also by their URLs.
    private let entries: [FilePath: SetEntry]

    /// Reads the list, compares it with the destination, and opens the manifest.
    ///
    /// - Throws: `conflict` while another sync of the directory runs; an error of the server or the list; `disk`.
    public convenience init(
        of source: SetSource, into destination: SyncDestination, options: SyncOptions, manager: DownloadManager
    ) async throws(DownloadError) {
        try await self.init(of: source, into: destination, options: options, manager: manager) { _, _ in }
    }

    /// As ``init(of:into:options:manager:)``.
    ///
    /// - Parameter retrying: Told when a part of the list is asked for again.
    package init(
        of source: SetSource, into destination: SyncDestination, options: SyncOptions, manager: DownloadManager,
        retrying: @escaping @Sendable (_ event: LocalizedEvent, _ url: DownloadURL) -> Void
    ) async throws(DownloadError) {
        let destination = destination.absolute
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
            case .blocked(let entry):
                let name = opened.place.name(of: entry.path)
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
                if let error = opened.place.failures[entry.key.removingLastComponent()] {
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
        // allow(secrets): the server of the source; files of others get none.
        if let home { request.secretsOrigin = home } else { request = request.withoutSecrets }
        request.sources = entry.sources
        (request.checksum, request.expectedBytes, request.pieces) = (entry.checksum, entry.totalBytes, entry.pieces)
        request.recordsDigests = true
        return request
    }

    // MARK: Ends of downloads

    /// Notes a completed download of ``requests``.
    public func completed(_ file: FinishedDownload) async {
        guard let entry = entries[FilePath(file.path)] else { return }
        await completed(file, entry) { [place] disk throws(DownloadError) in
            try place.record(of: file, entry, disk)
        }
    }

    private func completed(
        _ file: FinishedDownload, _ entry: SetEntry,
        _ record: @escaping @Sendable (Disk) throws(DownloadError) -> FileRecord
    ) async {
        let problem = await EngineProvider.files.run { [self] disk -> DownloadError? in
            do throws(DownloadError) {
                var record = try record(disk)
                // A 304 proves no less than what was known before.
                if file.wasAlreadyComplete, let old = place.earlier[record.key], old.checksum == record.checksum {
                    record.proof = [record.proof, old.proof].compactMap(\.self).max()
                }
                try manifest.withLock { [record] manifest throws(DownloadError) in try manifest?.append(record) }
                // What has not ended in the store is noted here alone.
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
                return nil
            } catch { return error }
        }
        if let problem { note("\(entry.path): \(problem.message)") }
    }

    /// Notes a download of ``requests`` that ended without its file.
    public func failed(_ error: DownloadError, path: String) {
        guard let entry = entries[FilePath(path)] else { return }
        state.withLock { $0.fail(entry, place.earlier, error) }
    }

    // MARK: Files of a directory

    /// Stores one of ``uploads``, and notes its end.
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

    private func note(_ problem: String) { state.withLock { $0.report.problems.append(problem) } }

    // MARK: The end

    /// Deletes what is gone, if that is asked for and the list was read whole; replaces the manifest.
    public func finish() async throws(DownloadError) -> SyncReport {
        // Locked on a file thread, as a completed file may be noted there.
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
        let doomed = plan.gone.filter(\.isDeleted).map(\.record)
        let deletions = doomed.isEmpty ? [] : await place.delete(doomed)
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
