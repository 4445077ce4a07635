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
    /// The URL of the final response after redirects, for display: its query, which may be a secret, is shown as `?…`.
    /// The URLs to request are ``DownloadRequest/sources``.
    public var redactedFinalURL: String
    /// The media type that the server sent.
    public var contentType: String?
    /// Bytes of response bodies received in this run, including discarded ones.
    public var receivedBytes: ByteCount
    /// The ETag that the server sent, verbatim; `nil` if it sent none, or in records of older versions.
    public var etag: String?
    /// The Last-Modified that the server sent, verbatim; `nil` as for ``etag``.
    public var lastModified: String?
    /// The digest of the file: the one that it was verified with, or the one that ``DownloadRequest/recordsDigests``
    /// requested; `nil` if neither was computed.
    public var checksum: Checksum?
    /// The ETag that the store returned for the object, verbatim; `nil` for a file, or if the store returned none.
    public var storedETag: String?

    /// Creates the result of a download, for previews and tests.
    public init(
        path: String, totalBytes: ByteCount, proof: Proof, wasAlreadyComplete: Bool = false,
        redactedFinalURL: String = "", contentType: String? = nil, receivedBytes: ByteCount = 0, etag: String? = nil,
        lastModified: String? = nil,
        checksum: Checksum? = nil, storedETag: String? = nil
    ) {
        self.path = path
        self.totalBytes = totalBytes
        self.proof = proof
        self.wasAlreadyComplete = wasAlreadyComplete
        self.redactedFinalURL = redactedFinalURL
        self.contentType = contentType
        self.receivedBytes = receivedBytes
        self.etag = etag
        self.lastModified = lastModified
        self.checksum = checksum
        self.storedETag = storedETag
    }
}

/// Encoded as `{"path", "totalBytes", "proof", "finalURL", "contentType"?, "wasAlreadyComplete", "receivedBytes", "etag"?,
/// "lastModified"?, "checksum"?, "storedETag"?}`.
extension FinishedDownload: Codable {
    private enum CodingKeys: String, CodingKey {
        case path, totalBytes, proof, finalURL, contentType, wasAlreadyComplete, receivedBytes, etag, lastModified
        case checksum, storedETag
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try container.decode(String.self, forKey: .path),
            totalBytes: try container.decodeBytes(forKey: .totalBytes),
            proof: try container.decodeKind(Proof.self, of: "proof", forKey: .proof),
            wasAlreadyComplete: try container.decodeIfPresent(Bool.self, forKey: .wasAlreadyComplete) ?? false,
            redactedFinalURL: try container.decodeIfPresent(String.self, forKey: .finalURL) ?? "",
            contentType: try container.decodeIfPresent(String.self, forKey: .contentType),
            receivedBytes: try container.decodeBytesIfPresent(forKey: .receivedBytes) ?? 0,
            etag: try container.decodeIfPresent(String.self, forKey: .etag),
            lastModified: try container.decodeIfPresent(String.self, forKey: .lastModified),
            checksum: try container.decodeIfPresent(Checksum.self, forKey: .checksum),
            storedETag: try container.decodeIfPresent(String.self, forKey: .storedETag))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(totalBytes, forKey: .totalBytes)
        try container.encode(proof.rawValue, forKey: .proof)
        try container.encode(redactedFinalURL, forKey: .finalURL)
        try container.encodeIfPresent(contentType, forKey: .contentType)
        try container.encode(wasAlreadyComplete, forKey: .wasAlreadyComplete)
        try container.encode(receivedBytes, forKey: .receivedBytes)
        try container.encodeIfPresent(etag, forKey: .etag)
        try container.encodeIfPresent(lastModified, forKey: .lastModified)
        try container.encodeIfPresent(checksum, forKey: .checksum)
        try container.encodeIfPresent(storedETag, forKey: .storedETag)
    }
}

/// The strength of the evidence that a finished file is intact and of one version.
///
/// Ordered from the weakest (`none`) to the strictest (`digest`).
public enum Proof: String, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// Parts joined without any validator, or a body without a length that ended when the connection closed.
    case none
    /// Parts joined under one weak validator, without comparing samples.
    case weak
    /// Parts joined after samples of the partial content matched the server's bytes.
    case sampled
    /// Parts joined under one strong validator (RFC 9110 §8.8.1).
    case strong
    /// One uninterrupted response, read to its declared end.
    case single
    /// The whole file matched a digest that the user gave or the server declared.
    case digest

    public static func < (lhs: Proof, rhs: Proof) -> Bool { lhs.rank < rhs.rank }

    /// Whether `--strict` accepts the proof: `digest`, `single` or `strong`.
    package var isStrict: Bool { self >= .strong }

    private var rank: Int {
        switch self {
        case .none: 0
        case .weak: 1
        case .sampled: 2
        case .strong: 3
        case .single: 4
        case .digest: 5
        }
    }
}
