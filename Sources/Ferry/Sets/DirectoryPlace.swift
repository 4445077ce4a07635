import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// A directory on this machine that contains the files of a set and their manifest.
struct DirectoryPlace: SyncPlace {
    let plan: SyncPlan
    let earlier: [FilePath: FileRecord]
    private(set) var failures: [FilePath: DownloadError] = [:]
    private(set) var cleared: [SyncDeletion] = []
    private let root: FilePath
    private let options: SyncOptions

    /// Opens the manifest, compares the list with the directory, and creates the directories of the files. Blocks.
    ///
    /// Throws `conflict` while another sync of the directory is running, and `disk` if the directory is not writable.
    static func open(
        _ root: FilePath, _ listing: SetListing, _ options: SyncOptions, _ disk: Disk
    ) throws(DownloadError) -> (place: DirectoryPlace, manifest: Manifest) {
        let outer = disk.fileSystem(within: options.root)
        do throws(FileError) { try outer.makeDirectories(root, syncs: true) } catch {
            throw DownloadError(error)
        }
        guard outer.isWritable(root) else { throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(root)")) }
        let manifest = try Manifest(in: root, fileSystem: outer)
        let confined = disk.fileSystem(within: options.root ?? root.string)
        let plan = SyncPlan(
            listing, options, .init(root, manifest.records, confined.holdingRoots(), restoringTimes: true))
        removeRemains(below: root, listing, plan, Array(manifest.records.keys), options, confined)
        var place = DirectoryPlace(plan: plan, earlier: manifest.records, root: root, options: options)
        place.clear(disk)
        // Directories that are not writable, or cannot be created because a file or link has the name. Only their own files are
        // incomplete.
        var made: Set<FilePath> = []
        for case .request(let entry, _) in plan.steps {
            let parent = entry.key.removingLastComponent()
            guard !parent.isEmpty, made.insert(parent).inserted else { continue }
            let directory = root.pushing(parent)
            do throws(FileError) { try confined.makeDirectories(directory, syncs: true) } catch {
                place.failures[parent] = DownloadError(.conflict, error.phrase, recovery: .needsUser)
                continue
            }
            if !confined.isWritable(directory) {
                place.failures[parent] = DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(directory)"))
            }
        }
        // Ignore errors, because nothing depends on an empty directory.
        for path in listing.emptyDirectories { try? confined.makeDirectories(root.appending(path), syncs: false) }
        return (place, manifest)
    }

    /// Deletes the files of the set that are in the way of listed files, and the directories that are in the way if they contain
    /// no file.
    private mutating func clear(_ disk: Disk) {
        let fileSystem = fileSystem(disk)
        let doomed = Dictionary(plan.gone.lazy.filter(\.isDeleted).map { ($0.record.key, $0.record) }) { $1 }
        for (obstacle, keys) in plan.cleared.sorted(by: { SetPath.precedes($0.key.string, $1.key.string) }) {
            cleared += keys.compactMap { doomed[$0] }.map { deletion(of: $0, disk) }
            let place = root.pushing(obstacle)
            let directories = SyncPlan.Holdings.directoriesWithoutFiles(at: place, fileSystem) ?? []
            // A directory in which another program has created a file in the meantime is not removed.
            for directory in directories.reversed() { try? fileSystem.removeDirectory(directory) }
            if (try? fileSystem.exists(place)) != false {
                failures[obstacle] = DownloadError(
                    .conflict, ErrorPhrase(.inTheWay, place.string), recovery: .needsUser)
            }
        }
    }

    /// Removes the part files and journals that killed runs have left of files that the source no longer lists, if deletion is
    /// requested and the list was read completely. Examines the directories of the list and of the manifest.
    private static func removeRemains(
        below root: FilePath, _ listing: SetListing, _ plan: SyncPlan, _ recorded: [FilePath], _ options: SyncOptions,
        _ fileSystem: any FileSystem
    ) {
        guard options.deletesGone, listing.problems.isEmpty, !listing.isDoubtful, plan.problems.isEmpty else { return }
        let listed = Set(plan.steps.map(\.key))
        let directories = Set(listed.union(recorded).map { $0.removingLastComponent() }).union([""])
        for directory in directories {
            let place = directory.isEmpty ? root : root.pushing(directory)
            for remains in PartFiles.remains(in: place, fileSystem: fileSystem) {
                let path = directory.appending(remains.paths.name)
                guard !listed.contains(path), options.wants(path.string) else { continue }
                // The journals of the user's other downloads have another root, or none.
                if let record = remains.record {
                    guard record.root == options.root ?? root.string, listing.covers(path, record.urls.first) else {
                        continue
                    }
                }
                PartFiles.discard(remains, fileSystem: fileSystem)
            }
        }
    }

    /// Returns the preview of a sync, and changes nothing.
    static func preview(
        _ root: FilePath, _ listing: SetListing, _ options: SyncOptions
    ) async throws(DownloadError) -> SyncPreview {
        try await EngineProvider.files.run { disk throws(DownloadError) in
            let fileSystem = disk.fileSystem(within: options.root ?? root.string)
            let content = try Manifest.content(of: root, fileSystem: fileSystem)
            if let flaw = content?.source.flaw { throw DownloadError(.disk, flaw, recovery: .needsUser) }
            let manifest = content?.records ?? []
            let here = SyncPlan.Holdings(
                root, Dictionary(manifest.map { ($0.key, $0) }) { $1 }, fileSystem, restoringTimes: false)
            return SyncPreview(SyncPlan(listing, options, here), listing, here)
        }
    }

    func name(of path: String) -> String { Paths.join(root.string, path) }

    func complete(_ request: inout DownloadRequest, _ entry: SetEntry, _ cause: SyncPlan.Cause) {
        request.destination = .file(name(of: entry.path))
        request.root = options.root ?? root.string
        request.onConflict = cause.replaces ? .overwrite : .fail
        request.keptCopy = options.keptCopy(of: entry.path)
        // The attribute of the file states its validators too, unless a copy has lost it or the file is unreadable.
        if cause == .unproven, let record = earlier[entry.key], record.isFrom(entry) {
            request.knownIdentity = record.identity
        }
    }

    func record(of file: FinishedDownload, _ entry: SetEntry, _ disk: Disk) throws(DownloadError) -> FileRecord {
        let path = FilePath(file.path)
        var record = commonRecord(of: file, entry)
        record.completedAt = Date()
        var isChanged = false
        do throws(FileError) {
            let fileSystem = fileSystem(disk)
            // The file may be unreadable, because it has the mode of the file that it replaced.
            let status = try fileSystem.status(path, followingLinks: false)
            if let flaw = fileSystem.flaw(of: status, at: path, for: .content) {
                throw FileError(.inspect, path, kind: .notOurs(flaw))
            }
            (record.totalBytes, record.modified) = (status.length, status.modified.text)
            // A row with a different size does not describe these bytes.
            let rowBytes = entry.row?.totalBytes ?? status.length
            if rowBytes == status.length { record.listed = entry.listed }
            record.checksum = file.checksum
            if record.checksum == nil, file.wasAlreadyComplete, let old = earlier[entry.key] {
                // The server has confirmed the recorded file. Another program may have changed it since it was compared with the
                // record.
                isChanged = !old.isOf(SyncPlan.HeldFile(totalBytes: status.length, mark: status.modified.text))
                record.checksum = old.checksum
            }
            if record.checksum == nil {
                let opened = try fileSystem.openOurs(path, .readOnly, for: .content)
                defer { opened.close() }
                let digest = try ByteDigest.of(opened, length: status.length, .sha256)
                record.checksum = Checksum(algorithm: .sha256, bytes: digest)
            }
        } catch { throw DownloadError(error) }
        guard !isChanged else {
            throw DownloadError(
                .conflict, ErrorPhrase(.changedHere, path.string), suggestion: ErrorPhrase(.overwriteOrRepair),
                recovery: .needsUser)
        }
        return record
    }

    func delete(_ records: [FileRecord]) async -> [SyncDeletion] {
        await EngineProvider.files.run { disk in
            records.map { deletion(of: $0, disk) }
        }
    }

    private func deletion(of record: FileRecord, _ disk: Disk) -> SyncDeletion {
        do throws(DownloadError) {
            return SyncDeletion(record: record, isDone: try delete(record, disk))
        } catch { return SyncDeletion(record: record, isDone: false, problem: error.message) }
    }

    func replace(
        _ manifest: Manifest, by records: [FileRecord], errors: [FilePath: DownloadError]
    ) async throws(DownloadError) {
        try await EngineProvider.files.run { _ throws(DownloadError) in try manifest.replace(by: records) }
    }

    /// Deletes a file of the set and its digests, if the file is unchanged since its download. Returns whether it was deleted.
    /// Size and time are not sufficient proof, because the server publishes them.
    ///
    /// - Throws: An error if the file cannot be inspected, read, kept in the backup directory, or removed.
    private func delete(_ record: FileRecord, _ disk: Disk) throws(DownloadError) -> Bool {
        let path = root.appending(record.path)
        let fileSystem = fileSystem(disk)
        let published: PublishedFile
        do throws(FileError) {
            guard let file = try SyncPlan.HeldFile.read(path, fileSystem), record.isOf(file),
                let found = try? PublishedFile.read(path.string, fileSystem: fileSystem),
                try SyncPlan.Holdings.isProven(record, at: path, fileSystem)
            else { return false }
            if let copy = options.keptCopy(of: record.path) {
                let keeper = FileKeeper(fileSystem: fileSystem, syncs: options.request.syncsToDisk)
                guard try keeper.keep(path, as: copy) == found else { return false }
            }
            published = found
        } catch { throw DownloadError(error) }
        do throws(DownloadError) {
            try PublishedFile.delete(path.string, ifUnchangedSince: published, fileSystem: fileSystem)
        } catch  where error.code == .conflict {
            return false
        }
        DigestFile.remove(of: path, fileSystem: fileSystem)
        return true
    }

    /// Returns a file system that follows no links below the directory, or below ``SyncOptions/root``.
    private func fileSystem(_ disk: Disk) -> any FileSystem {
        disk.fileSystem(within: options.root ?? root.string, and: options.backupDirectory)
    }
}

extension SyncPlan.Holdings {
    /// The directory of a set on the disk.
    ///
    /// - Parameters:
    ///   - fileSystem: A file system that is confined to the directory.
    ///   - restoringTimes: Whether a file with the bytes of its record gets its recorded time again, so that the file is recognized
    ///     later without being read. Otherwise nothing is written.
    init(
        _ root: FilePath, _ manifest: [FilePath: FileRecord], _ fileSystem: any FileSystem, restoringTimes: Bool
    ) {
        self.init(
            manifest: manifest,
            file: { path throws(FileError) in try SyncPlan.HeldFile.read(root.appending(path), fileSystem) },
            isSame: { Self.isSame(root.appending($0.path), $0, fileSystem, restoringTimes) },
            mayBeOurs: { _ in false },
            obstacle: { Self.obstacle(at: FilePath($0), below: root, fileSystem) },
            hasNoFile: { Self.directoriesWithoutFiles(at: root.pushing($0), fileSystem) != nil },
            isContradicted: { Self.proof(of: $0, at: root.appending($0.path), fileSystem) == false },
            attribute: { Self.attribute(of: root.appending($0), from: $1, fileSystem) })
    }

    /// Returns the path of a directory, link or device at a path, or of a file or link in place of a directory above it; `nil` if
    /// there is none, or if this is unknown.
    private static func obstacle(
        at path: FilePath, below root: FilePath, _ fileSystem: any FileSystem
    ) -> FilePath? {
        do throws(FileError) {
            let status = try fileSystem.statusIfPresent(root.pushing(path))
            return status.map { $0.kind != .regular } == true ? path : nil
        } catch {
            guard error.kind == .notDirectory || error.kind == .confined else { return nil }
            var directory = path.removingLastComponent()
            while !directory.isEmpty {
                if let status = try? fileSystem.statusIfPresent(root.pushing(directory)) {
                    return status.kind == .directory ? nil : directory
                }
                directory.removeLastComponent()
            }
            return nil
        }
    }

    /// Returns a directory and all directories below it, each before those in it; `nil` if anything else is at or below the path,
    /// or if this is unknown.
    static func directoriesWithoutFiles(at path: FilePath, _ fileSystem: any FileSystem) -> [FilePath]? {
        func isDirectory(_ path: FilePath) -> Bool {
            (try? fileSystem.status(path, followingLinks: false))?.kind == .directory
        }
        guard isDirectory(path) else { return nil }
        var (found, count) = ([path], 0)
        while count < found.count {
            let directory = found[count]
            count += 1
            var hasOther = false
            do throws(FileError) {
                try fileSystem.list(directory) { name in
                    guard let below = name.map({ directory.appending($0) }), isDirectory(below) else {
                        hasOther = true
                        return false
                    }
                    found.append(below)
                    return true
                }
            } catch { return nil }
            if hasOther { return nil }
        }
        return found
    }

    /// Whether the digest in the file's attribute is that of its record; `nil` if the file has no current attribute to compare.
    private static func proof(of record: FileRecord, at path: FilePath, _ fileSystem: any FileSystem) -> Bool? {
        guard let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else { return nil }
        defer { file.close() }
        return proof(of: record, file)
    }

    private static func proof(of record: FileRecord, _ file: any File) -> Bool? {
        guard let status = try? file.status(), let kept = SourceAttribute.read(file), kept.isOf(status),
            let checksum = kept.checksum, checksum.algorithm == record.checksum?.algorithm
        else { return nil }
        return checksum == record.checksum
    }

    /// Whether the file is the recorded one, according to the digest in its attribute or to its bytes. Only such a file may be
    /// deleted. Throws if the permissions do not let the file be read.
    static func isProven(
        _ record: FileRecord, at path: FilePath, _ fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        let file: any File
        do throws(FileError) { file = try fileSystem.openOurs(path, .readOnly, for: .content) } catch {
            guard error.kind == .permission else { return false }
            throw error
        }
        defer { file.close() }
        return proof(of: record, file) ?? hasBytes(of: record, file)
    }

    /// Whether the file has the recorded digest.
    private static func hasBytes(of record: FileRecord, _ file: any File) -> Bool {
        guard let checksum = record.checksum, let total = record.totalBytes else { return false }
        return (try? ByteDigest.of(file, length: total, checksum.algorithm)) == checksum.bytes
    }

    private static func isSame(
        _ path: FilePath, _ record: FileRecord, _ fileSystem: any FileSystem, _ restoresTime: Bool
    ) -> Bool {
        guard record.checksum != nil, let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else {
            return false
        }
        defer { file.close() }
        guard hasBytes(of: record, file) else { return false }
        guard restoresTime else { return true }
        if let time = record.modified.flatMap(FileTime.init(text:)) { try? file.setModificationTime(time) }
        return (try? SyncPlan.HeldFile.read(path, fileSystem))?.mark == record.mark
    }

    private static func attribute(
        of path: FilePath, from urls: [String], _ fileSystem: any FileSystem
    ) -> SourceAttribute? {
        guard let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else { return nil }
        defer { file.close() }
        guard let status = try? file.status(), let attribute = SourceAttribute.read(file),
            urls.contains(where: { attribute.matches(url: $0, status) })
        else { return nil }
        return attribute
    }
}

extension SyncPlan.HeldFile {
    /// Returns the regular file at a path; `nil` if there is none, also if a file or a link has the name of its directory.
    static func read(_ path: FilePath, _ fileSystem: any FileSystem) throws(FileError) -> SyncPlan.HeldFile? {
        do throws(FileError) {
            guard let status = try fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
            return SyncPlan.HeldFile(totalBytes: status.length, mark: status.modified.text)
        } catch  where error.kind == .notDirectory || error.kind == .confined {
            return nil
        }
    }
}
