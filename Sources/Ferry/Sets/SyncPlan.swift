import FerryCore
import FerryEngine
import SystemPackage

/// What a sync does with each file of a set: a pure function of the list, the manifest and the files that are there.
struct SyncPlan: Sendable, Hashable {
    /// A file or object that is there.
    struct HeldFile: Sendable, Hashable {
        var totalBytes: ByteCount
        /// What changes with the bytes: as ``FileRecord/mark``.
        var mark: String
    }

    /// Why a file is requested.
    enum Cause: Sendable, Hashable {
        /// It is not here.
        case missing
        /// The list has another size, digest or entity tag than the file.
        case changed
        /// The list does not prove that the file is current: the server is asked.
        case unproven
        /// The manifest has no record of the file that is here: it is compared.
        case unrecorded
        /// The file that is here is not of the set, and is replaced.
        case foreign

        /// Whether the file is here, and probably the one of the source.
        var isOfPresent: Bool { self == .unproven || self == .unrecorded }

        /// Whether the file that is here may be replaced.
        var replaces: Bool {
            switch self {
            case .changed, .unproven, .foreign: true
            case .missing, .unrecorded: false
            }
        }
    }

    enum Step: Sendable, Hashable {
        /// The file is complete and current.
        case keep(FileRecord)
        case request(SetEntry, Cause)
        /// A file that this set has not downloaded is there.
        case conflict(SetEntry)
        /// The file was changed here after the set had downloaded it.
        case changedHere(SetEntry)
        /// What is there is no file, and is never replaced.
        case blocked(SetEntry)

        /// The path of the file.
        var key: FilePath {
            switch self {
            case .keep(let record): record.key
            case .request(let entry, _), .conflict(let entry), .changedHere(let entry), .blocked(let entry): entry.key
            }
        }
    }

    /// What a sync knows of the place of the set: a directory, or the prefix of a bucket.
    struct Holdings {
        /// The records of the last sync, by path.
        var manifest: [FilePath: FileRecord]
        /// Returns the file that is at a path.
        var file: (_ path: String) -> HeldFile?
        /// Whether the file at a path has the bytes of its record, whose mark it has not.
        var isSame: (FileRecord) -> Bool
        /// Whether the file at a path was downloaded from this URL, as far as it is known without its record.
        var isDownloaded: (SetEntry) -> Bool
        /// Whether something else than a file is at a path.
        var isBlocked: (_ path: String) -> Bool = { _ in false }
        /// Whether the file at a path keeps another digest than its record has, which then is not about it.
        var isContradicted: (FileRecord) -> Bool = { _ in false }
    }

    /// In the order of the list.
    private(set) var steps: [Step] = []
    /// Files of the manifest that the source does not list any more, and that are still there.
    private(set) var gone: [Gone] = []
    /// Files of the manifest that are not looked at: the filter or the depth leaves them out.
    private(set) var others: [FileRecord] = []

    /// What is asked for and not done.
    private(set) var problems: [Reason] = []

    /// A file that the source does not list any more.
    struct Gone: Sendable, Hashable {
        var record: FileRecord
        /// Whether it is deleted: that is asked for, the list was read whole and is that of the file, and the file is
        /// unchanged since it was downloaded.
        var isDeleted: Bool
    }

    init(_ listing: SetListing, _ options: SyncOptions, _ held: Holdings) {
        var wanted: Set<FilePath> = []
        for entry in listing.entries {
            wanted.insert(entry.key)
            steps.append(Self.step(entry, options, held))
        }
        for record in held.manifest.values.sorted(by: FileRecord.precedes) where !wanted.contains(record.key) {
            if !options.wants(record.path) {
                others.append(record)
            } else if let file = held.file(record.path) {
                let isDeleted =
                    options.deletesGone && listing.problems.isEmpty && listing.covers(record) && record.isOf(file)
                gone.append(Gone(record: record, isDeleted: isDeleted))
            }
        }
        let (count, known) = (gone.count { $0.isDeleted }, held.manifest.count)
        let most = options.maxDeletions?.most(of: known) ?? (known > 10 ? known / 2 : known)
        guard count > most else { return }
        for index in gone.indices { gone[index].isDeleted = false }
        problems.append(.phrase(ErrorPhrase(.tooManyGone, "\(count)", "\(known)")))
    }

    private static func step(_ entry: SetEntry, _ options: SyncOptions, _ held: Holdings) -> Step {
        guard let file = held.file(entry.path) else {
            return held.isBlocked(entry.path) ? .blocked(entry) : .request(entry, .missing)
        }
        let known = held.manifest[entry.key].flatMap { $0.proof == nil ? nil : $0 }
        if var record = known, record.totalBytes == file.totalBytes,
            record.mark == file.mark || held.isSame(record)
        {
            record.problem = nil
            record.listedPath = entry.otherName
            let isCurrent = isCurrent(record, entry)
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
        if options.replacesOthers { return .request(entry, .foreign) }
        // With a digest the file is compared; its attribute tells one of a sync that was killed.
        if entry.checksum != nil || held.isDownloaded(entry) { return .request(entry, .unrecorded) }
        return known.map(held.isContradicted) == false ? .changedHere(entry) : .conflict(entry)
    }

    /// Whether the file has changed according to the list: by its size and digest, else by its validators; `nil` if the list
    /// does not tell.
    private static func isCurrent(_ record: FileRecord, _ entry: SetEntry) -> Bool? {
        if let size = entry.totalBytes, size != record.totalBytes { return false }
        if let wanted = entry.checksum { return wanted == record.checksum }
        // Another time says that the file was written, not that it has other bytes.
        if let file = entry.file { return file.modified.text == record.modified ? true : nil }
        guard let etag = entry.etag, let tag = EntityTag(etag), !tag.isWeak else { return nil }
        return tag == record.etag.flatMap { EntityTag($0) }
    }
}

extension SyncOptions {
    /// Whether a file would be listed if the source had it. Whether it was left out for its size or date is not known: then
    /// false.
    func wants(_ path: String) -> Bool {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        return !filter.hasBounds && filter.accepts(path) && maxDepth.map { depth <= $0 } != false
    }
}

extension FileRecord {
    static let byListing = "listing"

    /// What changes with the bytes: of an object the ETag that the store gave it, of a file its modification time.
    var mark: String? { storedETag ?? modified }

    /// Whether the file is the one that the record is about, by its size and mark.
    func isOf(_ file: SyncPlan.HeldFile) -> Bool {
        proof != nil && totalBytes == file.totalBytes && mark == file.mark
    }
}

extension SetListing {
    /// Whether a file that is not listed is gone from the source: an index whose first page is another one now, as after a
    /// redirect to a sign-in page, says nothing of it, and neither does a directory in whose place there is a link.
    fileprivate func covers(_ record: FileRecord) -> Bool {
        if skips(record.key) { return false }
        guard let root else { return true }
        return record.urls.first.flatMap { try? DownloadURL($0) }.flatMap { SetPath.path(of: $0, below: root) } != nil
    }
}
