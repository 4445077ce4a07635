import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The prefix of a bucket that contains the objects of a set, and their manifest as an object.
///
///     manifest, list of the prefix ─► plan ─► requests, each logged before it begins ─► objects, logged ─► manifest
///
/// - An object belongs to the set only if it has the ETag and the size that the manifest records. Any other object is replaced
///   only on request, and never deleted.
/// - Requests that replace or delete an object, or the manifest, are conditional on the ETag that was listed or read.
/// - Until the manifest is written, a log on this machine records the files that this run has begun and stored, including a
///   multipart upload of the manifest. The lock of the log prevents two syncs of one prefix by this user at the same time. If a
///   run was killed before it recorded an object as stored, the log still shows that the file was begun, and the next run
///   compares the object with its source.
/// - A run that ends removes the part files and uploads of earlier runs for files that are no longer continued: files that the
///   source no longer lists, and files whose key has an object that does not belong to the set.
struct ObjectPlace: SyncPlace {
    let plan: SyncPlan
    let earlier: [FilePath: FileRecord]
    var failures: [FilePath: DownloadError] { [:] }
    var cleared: [SyncDeletion] { [] }
    private let prefix: DownloadURL
    private let staging: FilePath
    private let state: Held
    /// Whether a file that is not listed is gone from the source.
    private let isListWhole: Bool
    private let options: SyncOptions
    private let manager: DownloadManager

    /// The maximum size of a manifest in bytes, enough for four million files. Their records are held in memory.
    private static let mostManifestBytes: ByteCount = 2 << 30
    /// The maximum number of objects that are deleted at the same time.
    private static let parallelDeletions = 4
    /// The maximum size of a key in bytes.
    fileprivate static let mostKeyBytes = 1024
    /// The path under which the log records the manifest.
    private static let manifestKey = FilePath(SetPath.manifest)

    /// The state of the prefix.
    private struct Held: Sendable {
        var objects: [FilePath: SyncPlan.HeldFile] = [:]
        var records: [FilePath: FileRecord] = [:]
        /// The sources of the files that runs on this machine have begun, and that the manifest may not list yet.
        var begun: [FilePath: String] = [:]
        /// The identifiers of multipart uploads that runs on this machine have begun.
        var uploads: [FilePath: String] = [:]
        /// The ETag of the manifest; `nil` if there is none.
        var manifestTag: String?
        var manifestDigest: [UInt8]?
        /// The identifier of a multipart upload of the manifest that a run on this machine has begun.
        var manifestUpload: String?

        /// Merges the manifest with the log of earlier runs on this machine. Of two records of a file, the one that matches the
        /// object counts.
        mutating func take(_ manifest: [FileRecord], noted: some Collection<FileRecord>) {
            for record in manifest {
                records[record.key] = record
                records[record.key]?.uploadID = nil
            }
            for var record in noted {
                let upload = record.uploadID.flatMap { JournalRecord.Upload.isIdentifier($0) ? $0 : nil }
                if record.key == ObjectPlace.manifestKey {
                    manifestUpload = upload
                    continue
                }
                begun[record.key] = record.urls.first
                uploads[record.key] = upload
                record.uploadID = nil
                guard record.proof != nil else { continue }
                let isKnown = records[record.key].map { $0.proof != nil } ?? false
                if !isKnown || objects[record.key].map(record.isOf) == true { records[record.key] = record }
            }
        }

        var holdings: SyncPlan.Holdings {
            SyncPlan.Holdings(
                manifest: records, file: { objects[FilePath($0)] }, isSame: { _ in false },
                mayBeOurs: { entry in
                    guard let source = entry.sources.first else {
                        // A file on this machine can always be compared with the object, if the sizes are equal.
                        return objects[entry.key]?.totalBytes == entry.totalBytes
                    }
                    return begun[entry.key] == source.with(nil).text
                })
        }
    }

    /// Lists the objects below a prefix, opens the log of earlier runs, and makes the plan.
    ///
    /// Throws `conflict` while another process of this user syncs the prefix.
    static func open(
        _ prefix: DownloadURL, _ staging: String, _ listing: SetListing, _ options: SyncOptions,
        _ manager: DownloadManager,
        _ retrying: @escaping @Sendable (ListRetry) -> Void
    ) async throws(DownloadError) -> (place: ObjectPlace, manifest: Manifest) {
        let (path, staging) = (noted(of: prefix, FilePath(staging)), FilePath(staging))
        var manifest = try await EngineProvider.files.run { disk throws(DownloadError) in
            let fileSystem = disk.fileSystem
            do throws(FileError) { try fileSystem.makeDirectories(staging, syncs: true) } catch {
                throw DownloadError(error)
            }
            return try Manifest(at: path, of: prefix.text, .noted, fileSystem: fileSystem)
        }
        do throws(DownloadError) {
            var held = try await held(below: prefix, options, manager, retrying)
            held.state.take(held.manifest, noted: manifest.records.values)
            let (state, noted) = (held.state, manifest)
            let opened = try await EngineProvider.files.run { _ throws(DownloadError) in
                let plan = SyncPlan(listing, options, state.holdings)
                var manifest = noted
                try manifest.append(contentsOf: plan.begun(state.records, state.uploads))
                // Otherwise, after a power cut, an object could exist that no record mentions.
                if options.request.syncsToDisk { try manifest.sync() }
                return (plan: plan, manifest: manifest)
            }
            manifest = opened.manifest
            let place = ObjectPlace(
                plan: opened.plan, earlier: state.records, prefix: prefix, staging: staging, state: state,
                isListWhole: listing.problems.isEmpty && !listing.isDoubtful, options: options, manager: manager)
            return (place, manifest)
        } catch {
            let opened = manifest
            await EngineProvider.files.run { _ in opened.close() }
            throw error
        }
    }

    /// Returns the preview of a sync, and changes nothing.
    static func preview(
        _ prefix: DownloadURL, _ staging: String, _ listing: SetListing, _ options: SyncOptions,
        _ manager: DownloadManager
    ) async throws(DownloadError) -> SyncPreview {
        var held = try await held(below: prefix, options, manager) { _ in }
        let path = noted(of: prefix, FilePath(staging))
        let noted = try await EngineProvider.files.run { disk throws(DownloadError) in
            try Manifest.content(at: path, of: prefix.text, .noted, fileSystem: disk.fileSystem)
        }
        held.state.take(held.manifest, noted: noted.flatMap { $0.source.flaw == nil ? $0.records : nil } ?? [])
        let state = held.state
        return await EngineProvider.files.run { _ in
            SyncPreview(SyncPlan(listing, options, state.holdings), listing, state.holdings)
        }
    }

    /// The path of the log of the runs on this machine for a prefix.
    private static func noted(of prefix: DownloadURL, _ staging: FilePath) -> FilePath {
        staging.appending("\(shortDigest(of: prefix)).ferry-set")
    }

    /// A short, unique name for an object.
    private static func shortDigest(of object: DownloadURL) -> String {
        HexText.string(ByteDigest.of(Array(object.text.utf8), .sha256).prefix(12))
    }

    private static func held(
        below prefix: DownloadURL, _ options: SyncOptions, _ manager: DownloadManager,
        _ retrying: @escaping @Sendable (ListRetry) -> Void
    ) async throws(DownloadError) -> (state: Held, manifest: [FileRecord]) {
        var (state, records): (Held, [FileRecord]) = (Held(), [])
        // The manifest is read before the list, so that the record of an object that another sync stores in between is not lost.
        let store = try store(options, manager) { $0.environment }
        let object = manifestObject(of: prefix)
        let found = try await store.read(object, most: Int(mostManifestBytes), into: { ArrivingManifest() }) {
            await $0.append($1)
        }
        if let found {
            guard let tag = found.etag else {
                throw DownloadError(
                    .refused, ErrorPhrase(.failedWith, prefix.text, ErrorPhrase(.unusableStoreAnswer)))
            }
            let read = await EngineProvider.files.run { _ in found.content.finish() }
            if !found.isWhole, !read.isBroken { throw largeManifest(object) }
            // Ferry always writes a manifest in one step, so this one was damaged or is not Ferry's.
            guard let known = read.records else {
                throw DownloadError(
                    .conflict, ErrorPhrase(.manifestNotWhole, object.text), suggestion: ErrorPhrase(.restoreManifest),
                    recovery: .needsUser)
            }
            (records, state.manifestTag, state.manifestDigest) = (known, tag, read.digest)
        }
        var plain = SyncOptions()
        (plain.request, plain.listingTime) = (options.request.withoutSecrets, options.listingTime)
        plain.request.sources = []
        state.objects = try await SetReader(manager: manager, options: plain, retrying: retrying)
            .objects(below: prefix)
        return (state, records)
    }

    private static func manifestObject(of prefix: DownloadURL) -> DownloadURL { prefix.appendingKey(SetPath.manifest) }

    /// The store, with settings that contain no secrets of requests.
    private static func store(
        _ options: SyncOptions, _ manager: DownloadManager, _ environment: (Scheduler) -> EngineEnvironment
    ) throws(DownloadError) -> ObjectStore {
        guard let scheduler = manager.scheduler else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
        }
        var request = options.request.withoutSecrets
        request.sources = []
        return ObjectStore(
            request, environment(scheduler), scheduler.configuration.driverSettings.with(request))
    }

    // MARK: SyncPlace

    func name(of path: String) -> String { prefix.appendingKey(path).text }

    func complete(_ request: inout DownloadRequest, _ entry: SetEntry, _ cause: SyncPlan.Cause) {
        request.uploadTo = prefix.appendingKey(entry.path)
        if entry.file == nil { request.destination = .file(staged(entry.path).string) }
        request.onConflict = cause.replaces ? .overwrite : .fail
        let tag = cause.replaces ? state.objects[entry.key]?.mark : nil
        // An object without an ETag is not replaced.
        var known = KnownObject(etag: tag == "" ? nil : tag)
        known.mayHaveContent = cause == .unrecorded
        // For a file of another URL, a 304 would prove nothing.
        if cause == .unproven, !entry.sources.isEmpty, let record = earlier[entry.key], record.isFrom(entry) {
            request.knownIdentity = record.identity
            known.checksum = record.checksum
        }
        request.knownObject = known
    }

    /// The path at which a file is staged before it becomes an object. The bytes are in the part file of this path.
    private func staged(_ path: String) -> FilePath {
        let name = SafeName.sanitize(Paths.name(of: path)) ?? "file"
        let object = prefix.appendingKey(path)
        return staging.appending("\(Self.shortDigest(of: object))-\(SafeName.prefix(of: name, bytes: 100))")
    }

    func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord {
        guard let tag = file.storedETag.flatMap({ EntityTag($0) }) else {
            throw DownloadError(.refused, ErrorPhrase(.unusableStoreAnswer))
        }
        var record = commonRecord(of: file, entry)
        (record.completedAt, record.storedETag) = (Date(), tag.field)
        (record.totalBytes, record.checksum) = (file.totalBytes, file.checksum)
        // A row with a different size does not describe these bytes.
        if entry.row?.totalBytes ?? file.totalBytes == file.totalBytes { record.listed = entry.listed }
        return record
    }

    func delete(_ records: [FileRecord]) async -> [SyncDeletion] {
        await withStore { store in
            await withTaskGroup(of: SyncDeletion.self) { group in
                var rest = records[...]
                func start() {
                    guard let record = rest.popFirst() else { return }
                    let object = prefix.appendingKey(record.path)
                    group.addTask {
                        do throws(DownloadError) {
                            let isGone = try await store.delete(object, ifMatch: record.storedETag ?? "")
                            return SyncDeletion(record: record, isDone: isGone)
                        } catch { return SyncDeletion(record: record, isDone: false, problem: error.message) }
                    }
                }
                for _ in 0..<Self.parallelDeletions { start() }
                var ended: [SyncDeletion] = []
                for await deletion in group {
                    ended.append(deletion)
                    start()
                }
                return ended.sorted { SetPath.precedes($0.record.path, $1.record.path) }
            }
        } otherwise: { error in
            records.map { SyncDeletion(record: $0, isDone: false, problem: error.message) }
        }
    }

    func replace(
        _ manifest: Manifest, by records: [FileRecord], errors: [FilePath: DownloadError]
    ) async throws(DownloadError) {
        let result = await store(manifest, records)
        if case .success(let made) = result, case .stored = made.outcome {
            let rest = rest(of: manifest, records, errors)
            let uploads = await EngineProvider.files.run { disk in rest.over.flatMap { discard($0, disk) } }
            let open = uploads.isEmpty ? [:] : await abort(uploads)
            await EngineProvider.files.run { disk in
                var kept = rest.kept + rest.unsure.filter { $0.uploadID != nil || hasPart($0, disk) }
                // The next run aborts the uploads that the store has not aborted.
                if !open.isEmpty {
                    let known = Set(kept.lazy.map(\.key))
                    kept += rest.over.filter { open[$0.key] != nil && !known.contains($0.key) }
                    for index in kept.indices {
                        if let id = open[kept[index].key] { kept[index].uploadID = id }
                    }
                }
                if let id = made.openUpload { kept.append(Self.note(ofManifest: id)) }
                // If this fails, the whole log remains, which does no harm.
                if kept.isEmpty { manifest.remove() } else { try? manifest.replace(by: kept) }
            }
            return
        }
        // The log remains for the next run.
        await EngineProvider.files.run { _ in manifest.close() }
        _ = try result.get()
        throw DownloadError(
            .conflict, ErrorPhrase(.setChangedMeanwhile, prefix.text), suggestion: ErrorPhrase(.syncAgain),
            recovery: .needsUser)
    }

    /// A multipart upload that is not continued.
    private struct Abandoned: Sendable {
        var key: FilePath
        var object: DownloadURL
        var id: String
    }

    /// Aborts uploads. Returns the identifiers of those that the store has not aborted.
    private func abort(_ uploads: [Abandoned]) async -> [FilePath: String] {
        await withStore { store in
            var open: [FilePath: String] = [:]
            for upload in uploads {
                let hasEnded = await store.abort(upload.object, upload.id)
                if !hasEnded { open[upload.key] = upload.id }
            }
            return open
        } otherwise: { _ in
            Dictionary(uploads.map { ($0.key, $0.id) }) { first, _ in first }
        }
    }

    private static func largeManifest(_ object: DownloadURL) -> DownloadError {
        DownloadError(
            .tooLarge, ErrorPhrase(.largeManifest, object.text, ByteText.size(mostManifestBytes)), recovery: .needsUser)
    }

    /// The outcome of storing the manifest.
    private struct StoredManifest: Sendable {
        var outcome: ObjectStore.Outcome
        /// The identifier of a multipart upload that is not continued and that the store has not aborted.
        var openUpload: String?
    }

    /// Returns the log entry of the manifest while it is being stored.
    ///
    /// - Parameter id: The multipart upload of the manifest; `nil` for none.
    private static func note(ofManifest id: String?) -> FileRecord {
        var record = FileRecord(path: SetPath.manifest)
        record.uploadID = id
        return record
    }

    /// The open log, while the manifest is being stored.
    private final class OpenNotes: Sendable {
        /// Locked on file threads only.
        private let manifest: Mutex<Manifest>
        private let syncsToDisk: Bool

        init(_ manifest: Manifest, syncsToDisk: Bool) {
            self.manifest = Mutex(manifest)
            self.syncsToDisk = syncsToDisk
        }

        /// Blocks.
        func append(_ record: FileRecord) throws(DownloadError) {
            try manifest.withLock { manifest throws(DownloadError) in
                try manifest.appendLine(of: record)
                if record.uploadID != nil, syncsToDisk { try manifest.sync() }
            }
        }
    }

    /// Stores the manifest, unless it equals the one that was read. Until it is stored, its text is in an unlinked file.
    private func store(_ manifest: Manifest, _ records: [FileRecord]) async -> Result<StoredManifest, DownloadError> {
        let object = Self.manifestObject(of: prefix)
        let notes = OpenNotes(manifest, syncsToDisk: options.request.syncsToDisk)
        do throws(DownloadError) {
            let draft = try await EngineProvider.files.run { _ throws(DownloadError) in
                try manifest.draft(of: records)
            }
            let result: Result<StoredManifest, DownloadError>
            if draft.totalBytes > Self.mostManifestBytes {
                result = .failure(Self.largeManifest(object))
            } else if draft.digest != state.manifestDigest {
                result = await withStore { store in
                    do throws(DownloadError) {
                        let stored = try await store.put(
                            draft.file, totalBytes: draft.totalBytes, as: object, replacing: state.manifestTag,
                            begun: state.manifestUpload,
                            note: { id throws(DownloadError) in
                                try await EngineProvider.files.run { _ throws(DownloadError) in
                                    try notes.append(Self.note(ofManifest: id))
                                }
                            })
                        return .success(StoredManifest(outcome: stored.outcome, openUpload: stored.openUpload))
                    } catch { return .failure(error) }
                } otherwise: {
                    .failure($0)
                }
            } else {
                var stored = StoredManifest(outcome: .stored(etag: state.manifestTag))
                if let id = state.manifestUpload {
                    let upload = Abandoned(key: Self.manifestKey, object: object, id: id)
                    stored.openUpload = await abort([upload])[upload.key]
                }
                result = .success(stored)
            }
            await EngineProvider.files.run { _ in draft.file.close() }
            return result
        } catch { return .failure(error) }
    }

    /// The log entries of files that are not known to be stored.
    private struct Rest: Sendable {
        /// Files that may have been stored: an upload may have been stopped, or its response lost. Because of these entries,
        /// the next run compares the objects with their sources.
        var kept: [FileRecord] = []
        /// Files that this run did not request, because the filter or an incomplete list left them out.
        var unsure: [FileRecord] = []
        /// Files whose part files and uploads are no longer needed.
        var over: [FileRecord] = []
    }

    private func rest(
        of manifest: Manifest, _ records: [FileRecord], _ errors: [FilePath: DownloadError]
    ) -> Rest {
        let known = Set(records.lazy.filter { $0.problem == nil && $0.proof != nil }.map(\.key))
            .union(plan.gone.map(\.record.key))
        var (listed, requested): (Set<FilePath>, Set<FilePath>) = ([], [])
        for step in plan.steps {
            listed.insert(step.key)
            if case .request = step { requested.insert(step.key) }
        }
        var rest = Rest()
        for record in manifest.records.values.sorted(by: FileRecord.precedes) where record.key != Self.manifestKey {
            let isRequested = requested.contains(record.key)
            // The object was just compared, and does not belong to the set.
            let isOfOthers = [.thereAlready, .objectChanged].contains(errors[record.key]?.phrase?.key)
            if isRequested, known.contains(record.key) {
                if record.uploadID != nil { rest.over.append(record) }
                continue
            }
            let isUnknown =
                isRequested ? !isOfOthers : !known.contains(record.key) && state.objects[record.key] != nil
            let isOver =
                if isRequested { isOfOthers } else if listed.contains(record.key) { true } else {
                    isListWhole && options.wants(record.path)
                }
            if isOver { rest.over.append(record) }
            if isUnknown {
                var record = record
                if isOver { record.uploadID = nil }
                rest.kept.append(record)
            } else if !isOver {
                rest.unsure.append(record)
            }
        }
        return rest
    }

    /// Returns the part file of a file of this set, identified by its journal; `nil` if there is none. Blocks.
    private func part(of record: FileRecord, _ disk: Disk) -> PartFiles.Found? {
        guard let found = try? PartFiles.find(at: staged(record.path).string, fileSystem: disk.fileSystem),
            found.record.upload?.object == prefix.appendingKey(record.path).text
        else { return nil }
        return found
    }

    private func hasPart(_ record: FileRecord, _ disk: Disk) -> Bool { part(of: record, disk) != nil }

    /// Removes the part file of a file that is not continued. Returns the multipart uploads that were begun for the file.
    /// Blocks.
    private func discard(_ record: FileRecord, _ disk: Disk) -> [Abandoned] {
        var ids = [record.uploadID]
        if let found = part(of: record, disk) {
            ids.append(found.record.upload?.id)
            DownloadDriver.discard(
                path: found.part, id: DownloadID(rawValue: found.record.id), fileSystem: disk.fileSystem)
        }
        let object = prefix.appendingKey(record.path)
        return ids.compactMap(\.self).map { Abandoned(key: record.key, object: object, id: $0) }
    }

    // MARK: Files of this machine

    /// Stores a file of a directory, unless its object has the same bytes already.
    ///
    /// - Parameters:
    ///   - note: Called with the identifier of a multipart upload before its first part is sent, and with `nil` after its end.
    ///   - sent: Called with the number of bytes of each piece that is sent.
    func store(
        _ upload: SetUpload, note: @escaping @Sendable (_ id: String?) async throws(DownloadError) -> Void,
        sent: @escaping @Sendable (ByteCount) -> Void, report: @escaping @Sendable (Reason) -> Void
    ) async throws(DownloadError) -> FileUpload.Stored {
        guard let scheduler = manager.scheduler, let file = upload.entry.file else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
        }
        let store = ObjectStore(
            upload.request, scheduler.environment, scheduler.configuration.driverSettings.with(upload.request))
        return try await FileUpload(
            file.path, below: file.root, upload.request, recorded: upload.recorded, store, scheduler.environment,
            begun: state.uploads[upload.entry.key], note: note, sent: sent, report: report
        ).run()
    }

    /// Returns the record of a stored file of a directory. Blocks.
    func record(
        of stored: FileUpload.Stored, _ entry: SetEntry, _ disk: Disk
    ) throws(DownloadError) -> FileRecord {
        var record = try record(of: stored.file, entry, disk)
        record.modified = stored.modified?.text
        record.uploadID = stored.openUpload
        return record
    }

    /// Returns the log entry of a file while it is being stored.
    ///
    /// - Parameter id: The multipart upload; `nil` for none.
    func begun(_ entry: SetEntry, upload id: String?) -> FileRecord {
        SyncPlan.begun(entry, earlier[entry.key], upload: id)
    }

    /// Runs `body` with a store that can be used even after the manager has been shut down.
    private func withStore<Value: Sendable>(
        _ body: (ObjectStore) async -> Value, otherwise: (DownloadError) -> Value
    ) async -> Value {
        guard let scheduler = manager.scheduler else {
            return otherwise(DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere)))
        }
        let environment = scheduler.engine.another(for: scheduler.configuration)
        let value: Value
        do throws(DownloadError) {
            let store = try Self.store(options, manager) { _ in environment }
            value = await body(store)
        } catch { value = otherwise(error) }
        await environment.transport.shutdown()
        return value
    }
}

extension SetListing {
    /// Leaves out the files whose keys below a prefix would be too long.
    mutating func leaveOut(belowPrefix prefix: DownloadURL) {
        let start = prefix.objectPrefix.count
        leaveOut { entry in
            start + entry.path.utf8.count > ObjectPlace.mostKeyBytes
                ? .phrase(ErrorPhrase(.longKey, entry.path)) : nil
        }
    }
}

extension SyncPlan {
    /// Returns the log entries of the files that are requested, with the earlier record of each file.
    fileprivate func begun(
        _ earlier: [FilePath: FileRecord], _ uploads: [FilePath: String]
    ) -> [FileRecord] {
        steps.compactMap { step in
            guard case .request(let entry, _) = step else { return nil }
            return Self.begun(entry, earlier[entry.key], upload: uploads[entry.key])
        }
    }

    fileprivate static func begun(_ entry: SetEntry, _ earlier: FileRecord?, upload id: String?) -> FileRecord {
        var record = earlier ?? FileRecord(path: entry.path)
        record.setURLs(entry.sources.prefix(1).map { $0.with(nil).text })
        record.uploadID = id
        return record
    }
}
