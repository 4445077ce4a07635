public import struct Foundation.URL

/// A download that has ended well.
public struct FinishedDownload: Sendable, Hashable {
    /// The absolute path of the file; empty when the bytes went to a stream.
    public var path: String
    /// The size of the file.
    public var totalBytes: ByteCount
    /// How strongly it is known to be of one piece.
    public var proof: Proof
    /// Nothing was fetched: the file was there already and is the server's.
    public var wasAlreadyComplete: Bool
    /// The URL that answered at last, after redirects, with `?…` for its query.
    public var finalURL: String
    /// The media type that the server gave.
    public var contentType: String?
    /// Bytes of bodies received in this run, those thrown away included.
    public var receivedBytes: ByteCount
    /// The ETag that the server gave, verbatim; `nil` when it gave none, or an older version wrote this.
    public var etag: String?
    /// The Last-Modified that the server gave, verbatim; `nil` as for ``etag``.
    public var lastModified: String?

    public init(
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

    /// The file, as a URL; `nil` when the bytes went to a stream.
    public var file: URL? {
        path.isEmpty ? nil : URL(filePath: path, directoryHint: .notDirectory)
    }
}
