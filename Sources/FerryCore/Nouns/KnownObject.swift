/// What is known of the object that a file is to become: of a set in a bucket, whose objects were listed before.
package struct KnownObject: Sendable, Hashable, Codable {
    /// The ETag of the object that the file replaces; `nil`: none is replaced.
    package var etag: String?
    /// Whether an object may be there that has the content of the file, by the digest of the request. Default false.
    package var mayHaveContent = false
    /// The validators under which the source is asked whether the object is still its file; `nil`: it is fetched at once.
    package var source: FileIdentity?
    /// The digest of the object, if it is still the file of the source.
    package var checksum: Checksum?

    package init(etag: String? = nil) { self.etag = etag }
}
