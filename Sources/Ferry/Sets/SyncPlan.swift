import FerryCore

/// What a sync does with each file of a set: a pure function of the list, the manifest and the files that are there.
struct SyncPlan: Sendable, Hashable {
    /// A file that is there.
    struct LocalFile: Sendable, Hashable {
        var totalBytes: ByteCount
        /// The modification time, as in ``FileRecord/modified``.
        var modified: String
    }

    enum Step: Sendable, Hashable {
        /// The file is complete and current.
        case keep(FileRecord)
        /// The file is requested; `replaces`: the one that is there may be replaced.
        case request(SetEntry, replaces: Bool)
        /// A file that this set has not downloaded is there.
        case conflict(SetEntry)
    }

    /// What a sync knows of the directory.
    struct Directory {
        /// The records of the last sync, by path.
        var manifest: [String: FileRecord]
        /// Returns the file that is at a path.
        var file: (_ path: String) -> LocalFile?
        /// Whether the file at a path has the bytes of its record, whose time it has not.
        var isSame: (FileRecord) -> Bool
        /// Whether the file at a path was downloaded from this URL and is unchanged since, by its attribute.
        var isDownloaded: (SetEntry) -> Bool
    }

    /// In the order of the list.
    private(set) var steps: [Step] = []
    /// Files of the manifest that the source does not list any more, and that are still there.
    private(set) var gone: [FileRecord] = []
    /// Files of the manifest that are not looked at: the filter or the depth leaves them out.
    private(set) var others: [FileRecord] = []

    init(_ listing: SetListing, _ options: SyncOptions, _ directory: Directory) {
        var wanted: Set<String> = []
        for entry in listing.entries {
            wanted.insert(entry.path)
            steps.append(Self.step(entry, options, directory))
        }
        for record in directory.manifest.values.sorted(by: { $0.path < $1.path }) where !wanted.contains(record.path) {
            let depth = record.path.utf8.count { $0 == UInt8(ascii: "/") }
            let isWanted = options.filter.accepts(record.path) && options.maxDepth.map { depth <= $0 } != false
            if !isWanted || listing.paths.contains(record.path) {
                others.append(record)
            } else if directory.file(record.path) != nil {
                gone.append(record)
            }
        }
    }

    private static func step(_ entry: SetEntry, _ options: SyncOptions, _ directory: Directory) -> Step {
        guard let file = directory.file(entry.path) else { return .request(entry, replaces: false) }
        if var record = directory.manifest[entry.path], record.proof != nil, record.totalBytes == file.totalBytes,
            record.modified == file.modified || directory.isSame(record)
        {
            record.problem = nil
            return isCurrent(record, entry) ? .keep(record) : .request(entry, replaces: true)
        }
        if options.replacesOthers { return .request(entry, replaces: true) }
        // With a digest the file is compared; its attribute tells one of a sync that was killed.
        return entry.checksum != nil || directory.isDownloaded(entry)
            ? .request(entry, replaces: false) : .conflict(entry)
    }

    /// Whether the list itself proves that the file has not changed: by its digest, else by its validators. Without
    /// either the server is asked.
    private static func isCurrent(_ record: FileRecord, _ entry: SetEntry) -> Bool {
        if let size = entry.totalBytes, size != record.totalBytes { return false }
        if let wanted = entry.checksum { return wanted == record.checksum }
        if let etag = entry.etag { return etag == record.etag && (EntityTag(etag).map { !$0.isWeak } ?? false) }
        return false
    }
}

extension FileRecord {
    /// Whether the file is the one that the record is about, by its size and time.
    func isOf(_ file: SyncPlan.LocalFile) -> Bool {
        proof != nil && totalBytes == file.totalBytes && modified == file.modified
    }
}
