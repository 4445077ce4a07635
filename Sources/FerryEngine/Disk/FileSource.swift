/// Where a published file came from, as its extended attribute is to say.
package struct FileSource: Sendable, Hashable {
    /// The URL as asked for, with query; only its digest is kept.
    package var url: String
    /// The ETag as on the wire.
    package var etag: String?
    /// Last-Modified as on the wire.
    package var lastModified: String?

    package init(url: String, etag: String? = nil, lastModified: String? = nil) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
    }
}
