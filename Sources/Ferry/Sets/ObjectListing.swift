public import FerryCore

/// An object of a bucket, as its store lists it.
public struct ListedObject: Sendable, Hashable, Codable {
    /// The `s3` URL.
    public var url: String
    /// The size in bytes.
    public var totalBytes: ByteCount?
    /// The date of the last change, in the format of the store.
    public var lastModified: String?
    public var etag: String?
}

/// The objects of a bucket whose keys have a common prefix.
public struct ObjectListing: Sendable, Hashable {
    /// In the order of their keys' bytes.
    public var objects: [ListedObject] = []
    /// Descriptions of the parts of the listing that are missing, one line each.
    public var problems: [String] = []
}

extension DownloadManager {
    /// Returns the objects below the prefix that an `s3` URL names, except those that stand for directories and Ferry's own.
    /// Writes nothing.
    ///
    /// - Parameters:
    ///   - prefix: The prefix. A slash is appended to its key if it does not end with one; an empty key stands for the whole
    ///     bucket.
    ///   - request: The settings of the connection, and header fields; its sources and destination are ignored. Its secrets are
    ///     sent only if they belong to the store of the prefix.
    /// - Throws: `refused` if the bucket does not exist or has no objects below the prefix; `credentials`; `network`.
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
