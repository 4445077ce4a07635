/// The result of a completed download.
public struct FinishedDownload: Sendable, Hashable {
    /// The absolute path of the file; empty when the destination was a stream.
    public var path: String
    /// The size of the file in bytes.
    public var totalBytes: ByteCount
    /// The strength of the integrity check.
    public var proof: Proof
    /// Whether the file existed already and was still current, so that nothing was fetched.
    public var wasAlreadyComplete: Bool
    /// The URL of the final response after redirects, its query shown as `?…`.
    public var finalURL: String
    /// The media type that the server sent.
    public var contentType: String?
    /// Bytes of response bodies received in this run, including discarded ones.
    public var receivedBytes: ByteCount
    /// The ETag that the server sent, verbatim; `nil` when it sent none, or in records of older versions.
    public var etag: String?
    /// The Last-Modified that the server sent, verbatim; `nil` as for ``etag``.
    public var lastModified: String?

    package init(
        path: String, totalBytes: ByteCount, proof: Proof, wasAlreadyComplete: Bool = false, finalURL: String = "",
        contentType: String? = nil, receivedBytes: ByteCount = 0, etag: String? = nil, lastModified: String? = nil
    ) {
        self.path = path
        self.totalBytes = totalBytes
        self.proof = proof
        self.wasAlreadyComplete = wasAlreadyComplete
        self.finalURL = finalURL
        self.contentType = contentType
        self.receivedBytes = receivedBytes
        self.etag = etag
        self.lastModified = lastModified
    }
}
