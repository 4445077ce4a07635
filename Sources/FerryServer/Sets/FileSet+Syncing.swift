import Ferry
import FerryAPI
import FerryCore

extension NewSet {
    private static let mostPatternBytes = 1000
    /// The maximum length of a path that a system opens, in bytes.
    private static let mostPathBytes = 4096

    /// Throws for values that a set cannot have.
    ///
    /// - Parameter isLocal: Whether the client uses the Unix socket, and so has the rights of the daemon's user.
    func check(isLocal: Bool) throws {
        guard (url == nil) != (list == nil) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.setSource), recovery: .needsUser)
        }
        if let list {
            // Errors about a list quote its lines, so it is opened only for clients that may read it anyway.
            guard isLocal else { throw DownloadError(.invalidRequest, ErrorPhrase(.setListForSocket)) }
            guard Paths.isAbsolute(list), list.utf8.count <= Self.mostPathBytes, !list.utf8.contains(0) else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.relativeToDaemon, ForeignText.quote(list)), recovery: .needsUser)
            }
        }
        for text in [url, base].compactMap(\.self) {
            let parsed = try DownloadURL(text)
            guard parsed.credentials == nil else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.credentialsInSet), suggestion: ErrorPhrase(.syncHere),
                    recovery: .needsUser)
            }
        }
        let patterns = (include ?? []) + (exclude ?? [])
        guard patterns.count <= Self.mostPatterns, patterns.allSatisfy({ $0.utf8.count <= Self.mostPatternBytes })
        else {
            throw Problem(
                .badRequest, "At most \(Self.mostPatterns) patterns of at most \(Self.mostPatternBytes) bytes.")
        }
        guard depth.map(Self.depths.contains) ?? true else {
            throw Problem(
                .badRequest, "depth must be a number from \(Self.depths.lowerBound) to \(Self.depths.upperBound).")
        }
        guard maxDelete.map({ DeletionLimit($0) != nil }) ?? true else {
            throw Problem(.badRequest, "maxDelete must be a number of files, or a percentage up to 100%.")
        }
        guard !directory.isEmpty, directory.utf8.count <= Self.mostPathBytes, !directory.utf8.contains(0) else {
            throw Problem(.badRequest, "directory must be the path of the set's directory.")
        }
    }
}

extension FileSet {
    /// The source and options of a sync.
    func sync() throws(DownloadError) -> (SetSource, SyncOptions) {
        var options = SyncOptions()
        options.filter = SetFilter(include: set.include ?? [], exclude: set.exclude ?? [])
        options.maxDepth = set.depth
        options.base = try set.base.map { text throws(DownloadError) in try DownloadURL(text) }
        // In a directory that a client over TCP has chosen, files with hidden names could be settings of programs.
        options.safeNames = root != nil || set.safeNames == true
        options.trustsListing = set.trustsListing ?? false
        options.deletesGone = set.deletesGone ?? false
        options.maxDeletions = set.maxDelete.flatMap { DeletionLimit($0) }
        options.replacesOthers = set.replacesOthers ?? false
        options.root = root
        // Limited, because a set that is being listed occupies one of the daemon's few slots for sets.
        options.listingTime = .seconds(1800)
        // Low, so that a download that a person adds does not wait for the many files of a set.
        options.request.priority = .low
        if let list = set.list { return (.file(list, base: options.base), options) }
        return (.url(try DownloadURL(set.url ?? "")), options)
    }
}
