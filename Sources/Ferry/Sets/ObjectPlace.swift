import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The prefix of a bucket that has the objects of a set, and their manifest as an object.
///
///     manifest, list of the prefix ─► plan ─► requests, each noted here before ─► objects, noted here ─► manifest
///
/// - An object is of the set only if it has the ETag and the size that the manifest names. Another one is replaced only on
///   request, and never deleted.
/// - Whatever replaces or deletes an object, or the manifest, does it under the ETag that was listed or read.
/// - Until the manifest is written, what this run has begun and stored is in a file on this machine, which also keeps two
///   syncs of one prefix by this user apart. An object of a run that was killed before it was noted is compared with its source
///   by what the run had begun.
struct ObjectPlace: SyncPlace {
    let plan: SyncPlan
    let earlier: [FilePath: FileRecord]
    var failures: [FilePath: DownloadError] { [:] }
    private let prefix: DownloadURL
    private let staging: FilePath
    private let state: Held
    private let options: SyncOptions
    private let manager: DownloadManager

    /// The maximum size of a manifest in bytes, which is in memory as a whole: half a million files.
    private static let mostManifestBytes = 256 << 20
    /// Objects that are deleted at the same time.
    private static let parallelDeletions = 4
    /// The maximum size of a key in bytes.
    fileprivate static let mostKeyBytes = 1024

    /// What the prefix has.
    private struct Held: Sendable {
        var objects: [FilePath: SyncPlan.HeldFile] = [:]
        var records: [FilePath: FileRecord] = [:]
        /// The sources of the files that runs on this machine have begun, and of which the manifest may not tell yet.
        var begun: [FilePath: String] = [:]
        /// The ETag of the manifest; `nil` if there is none.
        var manifestTag: String?
        var manifestDigest: [UInt8]?

        /// Takes the manifest, and what earlier runs on this machine have noted: of two records of a file the one that its
        /// object matches.
        mutating func take(_ manifest: [FileRecord], noted: some Collection<FileRecord>) {
            for record in manifest { records[record.key] = record }
            for record in noted {
                begun[record.key] = record.urls.first
                guard record.proof != nil else { continue }
                let isKnown = records[record.key].map { $0.proof != nil } ?? false
                if !isKnown || objects[record.key].map(record.isOf) == true { records[record.key] = record }
            }
        }

        var holdings: SyncPlan.Holdings {
            SyncPlan.Holdings(
                manifest: records, file: { objects[FilePath($0)] }, isSame: { _ in false },
                isDownloaded: { begun[$0.key] == $0.sources[0].with(nil).text })
        }
    }

    /// Lists the objects below a prefix, opens what earlier runs have noted, and plans.
    ///
    /// Throws `conflict` while another process of this user syncs the prefix.
    static func open(
        _ prefix: DownloadURL, _ staging: String, _ listing: SetListing, _ options: SyncOptions,
        _ manager: DownloadManager,
        _ retrying: @escaping @Sendable (_ event: LocalizedEvent, _ url: DownloadURL) -> Void
    ) async throws(DownloadError) -> (place: any SyncPlace, manifest: Manifest) {
        let (path, staging) = (noted(of: prefix, FilePath(staging)), FilePath(staging))
        var manifest = try await EngineProvider.files.run { disk throws(DownloadError) in
            let fileSystem = disk.fileSystem
            do throws(FileError) { try fileSystem.makeDirectories(staging, syncs: true) } catch {
                throw DownloadError(error)
            }
            return try Manifest(at: path, of: prefix.text, fileSystem: fileSystem)
        }
        do throws(DownloadError) {
            var held = try await held(below: prefix, options, manager, retrying)
            held.state.take(held.manifest, noted: manifest.records.values)
            let (state, noted) = (held.state, manifest)
            let opened = try await EngineProvider.files.run { _ throws(DownloadError) in
                let plan = SyncPlan(listing, options, state.holdings)
                var manifest = noted
                try manifest.append(contentsOf: plan.begun(state.records))
                // An object may outlive a power cut that this file would not: then nobody would know it.
                if options.request.syncsToDisk { try manifest.sync() }
                return (plan: plan, manifest: manifest)
            }
            manifest = opened.manifest
            let place = ObjectPlace(
                plan: opened.plan, earlier: state.records, prefix: prefix, staging: staging, state: state,
                options: options, manager: manager)
            return (place, manifest)
        } catch {
            let opened = manifest
            await EngineProvider.files.run { _ in opened.close() }
            throw error
        }
    }

    /// Returns what a sync would do, and changes nothing.
    static func preview(
        _ prefix: DownloadURL, _ staging: String, _ listing: SetListing, _ options: SyncOptions,
        _ manager: DownloadManager
    ) async throws(DownloadError) -> SyncPreview {
        var held = try await held(below: prefix, options, manager) { _, _ in }
        let path = noted(of: prefix, FilePath(staging))
        let noted = try await EngineProvider.files.run { disk throws(DownloadError) in
            try Manifest.content(at: path, of: prefix.text, fileSystem: disk.fileSystem)
        }
        held.state.take(held.manifest, noted: noted.flatMap { $0.source.flaw == nil ? $0.records : nil } ?? [])
        let state = held.state
        return await EngineProvider.files.run { _ in
            SyncPreview(SyncPlan(listing, options, state.holdings), listing, state.holdings)
        }
    }

    /// The file that has what runs on this machine have noted of a prefix.
    private static func noted(of prefix: DownloadURL, _ staging: FilePath) -> FilePath {
        staging.appending("\(shortDigest(of: prefix)).ferry-set")
    }

    /// A short name of an object that no other has.
    private static func shortDigest(of object: DownloadURL) -> String {
        HexText.string(ByteDigest.of(Array(object.text.utf8), .sha256).prefix(12))
    }

    private static func held(
        below prefix: DownloadURL, _ options: SyncOptions, _ manager: DownloadManager,
        _ retrying: @escaping @Sendable (_ event: LocalizedEvent, _ url: DownloadURL) -> Void
    ) async throws(DownloadError) -> (state: Held, manifest: [FileRecord]) {
        var (state, records): (Held, [FileRecord]) = (Held(), [])
        // The manifest before the list: of objects that another sync stores in between no record is lost by it.
        let store = try store(options, manager) { $0.environment }
        let object = manifestObject(of: prefix)
        if let found = try await store.bytes(of: object, most: mostManifestBytes) {
            guard let tag = found.etag else {
                throw DownloadError(
                    .refused, ErrorPhrase(.failedWith, prefix.text, ErrorPhrase(.unusableStoreAnswer)))
            }
            let read = await EngineProvider.files.run { _ in
                (Manifest.records(in: found.bytes), ByteDigest.of(found.bytes, .sha256))
            }
            // Always written in one step: another one was damaged, or is not ours.
            guard let known = read.0 else {
                throw DownloadError(
                    .conflict, ErrorPhrase(.manifestNotWhole, object.text), suggestion: ErrorPhrase(.restoreManifest),
                    recovery: .needsUser)
            }
            (records, state.manifestTag, state.manifestDigest) = (known, tag, read.1)
        }
        var plain = SyncOptions()
        (plain.request, plain.listingTime) = (options.request.withoutSecrets, options.listingTime)
        plain.request.sources = []
        state.objects = try await SetReader(manager: manager, options: plain, retrying: retrying)
            .objects(below: prefix)
        return (state, records)
    }

    private static func manifestObject(of prefix: DownloadURL) -> DownloadURL { prefix.appendingKey(SetPath.manifest) }

    /// The store, as requests without secrets reach it.
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
        let object = prefix.appendingKey(entry.path)
        let name = SafeName.sanitize(Paths.name(of: entry.path)) ?? "file"
        request.uploadTo = object
        request.destination = .file(
            staging.appending("\(Self.shortDigest(of: object))-\(SafeName.prefix(of: name, bytes: 100))").string)
        request.onConflict = cause.replaces ? .overwrite : .fail
        let tag = cause.replaces ? state.objects[entry.key]?.mark : nil
        // Without an ETag nothing is replaced.
        var known = KnownObject(etag: tag == "" ? nil : tag)
        known.mayHaveContent = cause == .unrecorded
        // Validators are those of one URL: of another file a 304 would say nothing.
        if cause == .unproven, let record = earlier[entry.key], record.urls.first == entry.sources[0].with(nil).text {
            known.source = FileIdentity(
                etag: record.etag, lastModified: record.lastModified, totalBytes: record.totalBytes)
            known.checksum = record.checksum
        }
        request.knownObject = known
    }

    func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord {
        guard let tag = file.storedETag.flatMap({ EntityTag($0) }) else {
            throw DownloadError(.refused, ErrorPhrase(.unusableStoreAnswer))
        }
        var record = commonRecord(of: file, entry)
        (record.completedAt, record.storedETag) = (Date(), tag.field)
        (record.totalBytes, record.checksum) = (file.totalBytes, file.checksum)
        // A row with another size is not of these bytes.
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
                return ended.sorted { $0.record.path < $1.record.path }
            }
        } otherwise: { error in
            records.map { SyncDeletion(record: $0, isDone: false, problem: error.message) }
        }
    }

    func replace(
        _ manifest: Manifest, by records: [FileRecord], errors: [FilePath: DownloadError]
    ) async throws(DownloadError) {
        let (bytes, digest) = await EngineProvider.files.run { _ in
            let bytes = Manifest.bytes(of: records)
            return (bytes, ByteDigest.of(bytes, .sha256))
        }
        var outcome: Result<ObjectStore.Outcome, DownloadError> = .success(.stored(etag: state.manifestTag))
        if bytes.count > Self.mostManifestBytes {
            let object = Self.manifestObject(of: prefix)
            outcome = .failure(
                DownloadError(
                    .tooLarge,
                    ErrorPhrase(.largeManifest, object.text, ByteText.size(ByteCount(Self.mostManifestBytes))),
                    recovery: .needsUser))
        } else if digest != state.manifestDigest {
            outcome = await withStore { store in
                do throws(DownloadError) {
                    let object = Self.manifestObject(of: prefix)
                    let stored = try await store.put(bytes, as: object, replacing: state.manifestTag)
                    return .success(stored)
                } catch { return .failure(error) }
            } otherwise: {
                .failure($0)
            }
        }
        if case .success(.stored) = outcome {
            let unknown = unknown(of: manifest, records, errors)
            return await EngineProvider.files.run { _ in
                // If this fails, all that was noted counts, which costs no more.
                if unknown.isEmpty { manifest.remove() } else { try? manifest.replace(by: unknown) }
            }
        }
        // What was noted here counts for the next run.
        await EngineProvider.files.run { _ in manifest.close() }
        _ = try outcome.get()
        throw DownloadError(
            .conflict, ErrorPhrase(.setChangedMeanwhile, prefix.text), suggestion: ErrorPhrase(.syncAgain),
            recovery: .needsUser)
    }

    /// Returns what was noted of files of which nobody can tell whether they were stored: an upload may have been stopped, or
    /// its answer lost. By it the next run compares such an object with its source.
    private func unknown(
        of manifest: Manifest, _ records: [FileRecord], _ errors: [FilePath: DownloadError]
    ) -> [FileRecord] {
        let known = Set(records.lazy.filter { $0.problem == nil && $0.proof != nil }.map(\.key))
            .union(plan.gone.map(\.record.key))
        let requested = Set(plan.steps.compactMap { if case .request(let entry, _) = $0 { entry.key } else { nil } })
        let unknown = manifest.records.values.filter { record in
            if known.contains(record.key) { return false }
            guard requested.contains(record.key) else { return state.objects[record.key] != nil }
            // Compared just now, and of others.
            return ![.thereAlready, .objectChanged].contains(errors[record.key]?.phrase?.key)
        }
        return unknown.sorted { $0.path < $1.path }
    }

    /// Runs `body` with a store that also answers after the manager has been shut down.
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
    /// The records of the files that are requested, with what was known of each before.
    fileprivate func begun(_ earlier: [FilePath: FileRecord]) -> [FileRecord] {
        steps.compactMap { step in
            guard case .request(let entry, _) = step else { return nil }
            var record = earlier[entry.key] ?? FileRecord(path: entry.path)
            record.setURLs([entry.sources[0].with(nil).text])
            return record
        }
    }
}
