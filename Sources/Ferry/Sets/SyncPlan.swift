import FerryCore
import FerryEngine
import SystemPackage

/// The decision of a sync for each file of a set: a pure function of the list, the manifest and the existing files.
struct SyncPlan: Sendable, Hashable {
    /// An existing file or object.
    struct HeldFile: Sendable, Hashable {
        var totalBytes: ByteCount
        /// A mark that changes with the bytes; see ``FileRecord/mark``.
        var mark: String
    }

    /// Why a file is requested.
    enum Cause: Sendable, Hashable {
        /// The destination does not have the file.
        case missing
        /// The size, digest or entity tag in the list differs from the file's.
        case changed
        /// The list does not prove that the recorded file is current, so the file is compared with its source.
        case unproven
        /// The manifest has no record of the existing bytes, but their attribute shows that they were downloaded for the set, so
        /// the file is compared with its source.
        case attributed
        /// The manifest has no record of the existing file, so the file is compared with its source.
        case unrecorded
        /// The existing file does not belong to the set, and is replaced.
        case foreign

        /// Whether the file exists in the destination and is probably the same as in the source.
        var isOfPresent: Bool { [.unproven, .attributed, .unrecorded].contains(self) }

        /// Whether the existing file may be replaced.
        var replaces: Bool {
            switch self {
            case .changed, .unproven, .attributed, .foreign: true
            case .missing, .unrecorded: false
            }
        }
    }

    enum Step: Sendable, Hashable {
        /// The file is complete and current.
        case keep(FileRecord)
        case request(SetEntry, Cause)
        /// The destination has a file that this set has not downloaded.
        case conflict(SetEntry)
        /// The file in the destination was changed after the set had downloaded it.
        case changedHere(SetEntry)
        /// Something other than a regular file has the path, or something other than a directory has the path of one of its
        /// directories. Neither is replaced.
        case blocked(SetEntry, by: FilePath)

        /// The path of the file.
        var key: FilePath {
            switch self {
            case .keep(let record): record.key
            case .request(let entry, _), .conflict(let entry), .changedHere(let entry), .blocked(let entry, _):
                entry.key
            }
        }
    }

    /// The state of the place of the set: a directory, or the prefix of a bucket.
    struct Holdings {
        /// The records of the last sync, by path.
        var manifest: [FilePath: FileRecord]
        /// Returns the file at a path; `nil` if there is none. Throws if this is unknown, for example because the directory cannot
        /// be read.
        var file: (_ path: String) throws(FileError) -> HeldFile?
        /// Whether the file at a path has the bytes of its record although their marks differ.
        var isSame: (FileRecord) -> Bool
        /// Whether a file without a record may be one that an earlier run has stored, so that it is compared with its source.
        var mayBeOurs: (SetEntry) -> Bool
        /// Returns the path at which no file exists, but something that prevents a file at the given path: the path itself, or that
        /// of a directory above it.
        var obstacle: (_ path: String) -> FilePath? = { _ in nil }
        /// Whether a directory at a path contains no file, also in the directories below it.
        var hasNoFile: (_ directory: FilePath) -> Bool = { _ in false }
        /// Whether the digest in the attribute of the file at a path differs from the digest in its record, so that the record is
        /// not about this file.
        var isContradicted: (FileRecord) -> Bool = { _ in false }
        /// Returns the attribute of the file at a path if it shows that the file was downloaded from one of these URLs and has not
        /// changed since; otherwise `nil`.
        var attribute: (_ path: String, _ urls: [String]) -> SourceAttribute? = { _, _ in nil }
    }

    /// The steps, in the order of the list.
    private(set) var steps: [Step] = []
    /// The existing files of the manifest that the source no longer lists.
    private(set) var gone: [Gone] = []
    /// The files of the manifest that are not examined because the filter or the maximum depth leaves them out.
    private(set) var others: [FileRecord] = []

    /// The paths of gone files of the set, of directories of such files, and of directories without files, that listed files need
    /// for themselves or for their directories: they are cleared before the requests. Each with the paths of the gone files at or
    /// below it, sorted.
    private(set) var cleared: [FilePath: [FilePath]] = [:]

    /// The requested changes that are not made.
    private(set) var problems: [Reason] = []

    /// A file that the source no longer lists.
    struct Gone: Sendable, Hashable {
        var record: FileRecord
        /// Whether the file is to be deleted: deletion is requested, the list was read completely and covers the file, and the file
        /// is unchanged since it was downloaded, or cannot be inspected now.
        var isDeleted: Bool
    }

    init(_ listing: SetListing, _ options: SyncOptions, _ held: Holdings) {
        var wanted: Set<FilePath> = []
        for entry in listing.entries {
            wanted.insert(entry.key)
            steps.append(Self.step(entry, options, held))
        }
        // Unlisted files that do not exist.
        var missing: [FilePath] = []
        for var record in held.manifest.values.sorted(by: FileRecord.precedes) where !wanted.contains(record.key) {
            guard options.wants(record.path) else {
                others.append(record)
                continue
            }
            let isUnlisted =
                options.deletesGone && listing.problems.isEmpty && listing.covers(record.key, record.urls.first)
            do throws(FileError) {
                guard let file = try held.file(record.path) else {
                    if isUnlisted { missing.append(record.key) }
                    continue
                }
                // A sync that was killed has replaced the file, but not its record.
                if !record.isOf(file) || held.isContradicted(record),
                    let attribute = held.attribute(record.path, record.urls), attribute.checksum != nil
                {
                    record.use(attribute)
                    // The proof was that of other bytes.
                    (record.proof, record.problem, record.listed, record.currentBy) = (Proof.none, nil, nil, nil)
                }
                gone.append(Gone(record: record, isDeleted: isUnlisted && record.isOf(file)))
            } catch {
                // The deletion reports why the file cannot be inspected.
                gone.append(Gone(record: record, isDeleted: isUnlisted))
            }
        }
        keepDoubtful(listing)
        let (count, known) = (gone.count { $0.isDeleted }, held.manifest.count)
        let most = options.maxDeletions?.most(of: known) ?? (known > 10 ? known / 2 : known)
        if count > most {
            for index in gone.indices { gone[index].isDeleted = false }
            problems.append(.phrase(ErrorPhrase(.tooManyGone, "\(count)", "\(known)")))
        }
        let clearsDirectories = options.deletesGone && listing.problems.isEmpty
        clear(missing) { clearsDirectories && held.hasNoFile($0) }
    }

    /// Deletes nothing if a file would be deleted because of a page that may not list its directory, such as a page to sign in.
    private mutating func keepDoubtful(_ listing: SetListing) {
        guard listing.isDoubtful else { return }
        var pages: Set<DownloadURL> = []
        for file in gone where file.isDeleted {
            guard let url = file.record.urls.first.flatMap({ try? DownloadURL($0) }),
                let page = listing.doubtfulPage(above: url), pages.insert(page).inserted
            else { continue }
            problems.append(.phrase(ErrorPhrase(.pageUnlikeList, "\(page)")))
        }
        guard !pages.isEmpty else { return }
        for index in gone.indices { gone[index].isDeleted = false }
    }

    /// Requests the files that only deleted files of the set, directories of such files, and directories without files prevent.
    ///
    /// - Parameter isClear: Whether the directory at a path contains no file and may be removed.
    private mutating func clear(_ missing: [FilePath], _ isClear: (FilePath) -> Bool) {
        let obstacles = Set(
            steps.compactMap { step -> FilePath? in if case .blocked(_, let obstacle) = step { obstacle } else { nil } }
        )
        guard !obstacles.isEmpty else { return }
        var kept: Set<FilePath> = []
        let files =
            gone.map { (key: $0.record.key, isDeleted: $0.isDeleted) } + others.map { ($0.key, false) }
            + missing.map { ($0, true) }
        for (key, isDeleted) in files {
            var path = key
            while !path.isEmpty {
                if obstacles.contains(path) {
                    if isDeleted { cleared[path, default: []].append(key) } else { kept.insert(path) }
                }
                path.removeLastComponent()
            }
        }
        for path in kept { cleared[path] = nil }
        for path in obstacles where cleared[path] == nil && !kept.contains(path) && isClear(path) { cleared[path] = [] }
        for path in cleared.keys { cleared[path]?.sort { SetPath.precedes($0.string, $1.string) } }
        for (index, step) in steps.enumerated() {
            guard case .blocked(let entry, let obstacle) = step, cleared[obstacle] != nil else { continue }
            steps[index] = .request(entry, .missing)
        }
    }

    private static func step(_ entry: SetEntry, _ options: SyncOptions, _ held: Holdings) -> Step {
        guard let file = try? held.file(entry.path) else {
            return held.obstacle(entry.path).map { .blocked(entry, by: $0) } ?? .request(entry, .missing)
        }
        let known = held.manifest[entry.key].flatMap { $0.proof == nil ? nil : $0 }
        if var record = known, record.totalBytes == file.totalBytes,
            record.mark == file.mark || held.isSame(record)
        {
            record.problem = nil
            record.listedPath = entry.otherName
            let isCurrent = isCurrent(record, entry)
            record.setURLs(entry.urls)
            if isCurrent == true {
                (record.listed, record.currentBy) = (entry.listed, nil)
                return .keep(record)
            }
            if isCurrent == nil, options.trustsListing, let listed = entry.listed, listed == record.listed {
                record.currentBy = FileRecord.byListing
                return .keep(record)
            }
            if !held.isContradicted(record) { return .request(entry, isCurrent == false ? .changed : .unproven) }
        }
        // A sync that was killed has downloaded the file, but not recorded it.
        if held.attribute(entry.path, entry.urls + (held.manifest[entry.key]?.urls ?? [])) != nil {
            return .request(entry, .attributed)
        }
        if options.replacesOthers { return .request(entry, .foreign) }
        // The file is compared if the list states a digest, or if a killed run may have stored it.
        if entry.checksum != nil || held.mayBeOurs(entry) { return .request(entry, .unrecorded) }
        return known.map(held.isContradicted) == false ? .changedHere(entry) : .conflict(entry)
    }

    /// Whether the file is current according to the list, by size and digest, otherwise by validators; `nil` if the list does
    /// not show it.
    private static func isCurrent(_ record: FileRecord, _ entry: SetEntry) -> Bool? {
        if let size = entry.totalBytes, size != record.totalBytes { return false }
        if let wanted = entry.checksum { return wanted == record.checksum }
        // A different time shows that the file was written, not that its bytes differ.
        if let file = entry.file { return file.modified.text == record.modified ? true : nil }
        // Validators are valid for one URL only.
        guard record.isFrom(entry), let etag = entry.etag, let tag = EntityTag(etag), !tag.isWeak else { return nil }
        return tag == record.etag.flatMap { EntityTag($0) }
    }
}

extension SyncOptions {
    /// Whether a file would be listed if the source had it. Returns `false` if the filter has limits on size or date, because these
    /// limits may then have left the file out.
    func wants(_ path: String) -> Bool {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        return !filter.hasBounds && filter.accepts(path) && maxDepth.map { depth <= $0 } != false
    }
}

extension FileRecord {
    static let byListing = "listing"

    /// A mark that changes with the bytes: the ETag of an object in its store, or the modification time of a file.
    var mark: String? { storedETag ?? modified }

    /// The validators and the size that the source has sent.
    var identity: FileIdentity { FileIdentity(etag: etag, lastModified: lastModified, totalBytes: totalBytes) }

    /// Sets the fields that the attribute of the file states.
    mutating func use(_ attribute: SourceAttribute) {
        (totalBytes, checksum, modified) = (attribute.length, attribute.checksum, attribute.modified.text)
        (etag, lastModified) = (attribute.etag, attribute.lastModified)
    }

    /// Whether the record is about the file, according to size and mark.
    func isOf(_ file: SyncPlan.HeldFile) -> Bool {
        proof != nil && totalBytes == file.totalBytes && mark == file.mark
    }
}

extension SetListing {
    /// Whether a file that is not listed is gone from the source. It does not count as gone if it would have a different path
    /// below the first page of the index, as after a redirect to a sign-in page or to the parent, or if a link has replaced one
    /// of its directories.
    ///
    /// - Parameter url: The URL from which the file was fetched.
    func covers(_ path: FilePath, _ url: String?) -> Bool {
        if skips(path) { return false }
        guard let root else { return true }
        let listed = url.flatMap { try? DownloadURL($0) }.flatMap { SetPath.names(of: $0, below: root) }
        return listed.map { listed in
            [false, true].contains { SetPath.make(names: listed, safeNames: $0).map { FilePath($0) } == path }
        } ?? false
    }
}
