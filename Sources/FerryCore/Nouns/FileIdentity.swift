/// What a server said about which file it is: validators and length. All verbatim, as received.
package struct FileIdentity: Codable, Hashable, Sendable {
    /// The ETag as on the wire, `"abc"` or `W/"abc"`; `nil` when absent or malformed.
    package var etag: String?
    /// Last-Modified as on the wire; `nil` when absent or not a date.
    package var lastModified: String?
    /// Date of the response that gave them; needed to tell whether Last-Modified is strong.
    package var date: String?
    /// The length of the whole.
    package var totalBytes: ByteCount?
    /// The media type, to tell a login page from the file that was there.
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

    /// It is a web page by its type.
    package var isPage: Bool { contentType.flatMap { MediaType($0) }?.isHTML == true }
}
