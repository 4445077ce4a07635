/// The origin of a published file, as stored in its extended attribute.
package struct FileSource: Sendable, Hashable {
    /// The requested URL, with query; only its digest is stored.
    package var url: String
    /// The ETag, verbatim.
    package var etag: String?
    /// Last-Modified, verbatim.
    package var lastModified: String?

    package init(url: String, etag: String? = nil, lastModified: String? = nil) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
    }
}
