public import FerryCore

/// An object of a bucket, as the list of its store has it.
public struct ListedObject: Sendable, Hashable, Codable {
    /// The `s3` URL.
    public var url: String
    /// The size in bytes.
    public var totalBytes: ByteCount?
    /// When the object was written, in the form of the store.
    public var lastModified: String?
    public var etag: String?
}

/// The objects of a bucket whose keys have a common prefix.
public struct ObjectListing: Sendable, Hashable {
    /// In the order of their keys' bytes.
    public var objects: [ListedObject] = []
    /// What is not listed: one line each.
    public var problems: [String] = []
}

extension DownloadManager {
    /// Returns the objects below the prefix that an `s3` URL names, without those that stand for directories and Ferry's
    /// own. Writes nothing.
    ///
    /// - Parameters:
    ///   - prefix: A slash is added to its key if it has none; an empty key stands for the whole bucket.
    ///   - request: The settings of the connection, and header fields; its sources and destination are ignored. Its secrets are
    ///     sent only if they belong to the store of the prefix.
    /// - Throws: `refused` if there is no such bucket, or nothing below the prefix; `credentials`; `network`.
    public func objects(
        below prefix: DownloadURL, as request: DownloadRequest
    ) async throws(DownloadError) -> ObjectListing {
        guard prefix.isObject else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.uploadsObjects), recovery: .needsUser)
        }
        var (options, listing) = (SyncOptions(), SetListing())
        // allow(origin): the prefix is not a source of the request.
        let isHome = (SecretScope.home(of: request) ?? prefix.origin) == prefix.origin
        options.request = isHome ? request : request.withoutSecrets
        options.request.sources = []
        // allow(secrets): the store that the list is requested from.
        if isHome { options.request.secretsOrigin = prefix.origin }
        var reader = SetReader(manager: self, options: options)
        reader.keepsKeys = true
        try await reader.list(prefix, &listing)
        if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
        guard !listing.entries.isEmpty || !listing.problems.isEmpty else {
            throw DownloadError(.refused, ErrorPhrase(.noSuchObject, prefix.redacted))
        }
        let objects = listing.entries.sorted { SetPath.precedes($0.path, $1.path) }.map { entry in
            ListedObject(
                url: entry.sources.first?.text ?? "", totalBytes: entry.totalBytes, lastModified: entry.lastModified,
                etag: entry.etag)
        }
        return ObjectListing(objects: objects, problems: listing.problems.map(\.description))
    }
}
