/// The validators and length that identify a representation, verbatim as received.
package struct FileIdentity: Codable, Hashable, Sendable {
    /// ETag as sent, `"abc"` or `W/"abc"`; `nil` when absent or malformed.
    package var etag: String?
    /// Last-Modified as sent; `nil` when absent or not a date.
    package var lastModified: String?
    /// Date of the same response; decides whether Last-Modified is a strong validator.
    package var date: String?
    /// The length of the whole representation in bytes.
    package var totalBytes: ByteCount?
    /// The media type; distinguishes a login page from the expected file.
    package var contentType: String?

    package init(
        etag: String? = nil, lastModified: String? = nil, date: String? = nil, totalBytes: ByteCount? = nil,
        contentType: String? = nil
    ) {
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
        self.totalBytes = totalBytes
        self.contentType = contentType
    }

    /// Whether both have the same ETag, or both have none.
    package func hasSameTag(as other: FileIdentity) -> Bool {
        etag.flatMap { EntityTag($0) } == other.etag.flatMap { EntityTag($0) }
    }

    /// Whether the media type is a web page's.
    package var isPage: Bool { contentType.flatMap { MediaType($0) }?.isHTML == true }
}
