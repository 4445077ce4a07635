/// The known state of the object that a file is uploaded to, for a set in a bucket whose objects were listed before.
package struct KnownObject: Sendable, Hashable, Codable {
    /// The ETag of the object that the file replaces; `nil` if it replaces none.
    package var etag: String?
    /// Whether the object may already have the file's content, according to the digest in the request. Default false.
    package var mayHaveContent = false
    /// The digest of the object, if it is still the same as the source's file.
    package var checksum: Checksum?

    package init(etag: String? = nil) { self.etag = etag }
}
