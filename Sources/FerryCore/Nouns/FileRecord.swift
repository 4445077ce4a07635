#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Date
#else
    public import struct Foundation.Date
#endif

/// The known facts about a file: a line of a set's manifest, or the content of the digest file next to a download.
///
/// Encoded as an object with the properties' names; the value of an absent member is unknown. Contains no secrets, except in
/// the queries of URLs.
public struct FileRecord: Sendable, Hashable {
    /// The path relative to the directory of the record, its names separated by `/`.
    public var path: String
    /// The path in the source, if it differs; otherwise `nil`.
    public var listedPath: String?
    /// The size of the file in bytes.
    public var totalBytes: ByteCount?
    /// The digest of the file.
    public var checksum: Checksum?
    /// The digests of the pieces of the file.
    public var pieces: PieceDigests?
    /// The URLs of the file with their queries and without user info; the first is the source.
    public var urls: [String]
    /// The ETag that the server sent, verbatim.
    public var etag: String?
    /// The Last-Modified that the server sent, verbatim.
    public var lastModified: String?
    /// The date and size of the file in the set's listing when the file was fetched or found to be current.
    public var listed: String?
    /// `listing` if the file was last found to be current by comparing ``listed`` only, without a request to the server;
    /// otherwise `nil`.
    public var currentBy: String?
    /// The strength of the evidence that the file is intact; `nil` while it is missing.
    public var proof: Proof?
    /// The time at which the file was completed.
    public var completedAt: Date?
    /// The modification time of the completed file, in seconds since 1970 with nine decimals: `1700000000.000000000`.
    /// For an object that was uploaded from a directory, the time of the uploaded file; `nil` for any other object.
    public var modified: String?
    /// For an object: the ETag that the store returned for it, verbatim.
    public var storedETag: String?
    /// For a file that is uploaded in several parts: the store's identifier of the upload. Never in a manifest.
    package var uploadID: String?
    /// The reason why the file is missing or was not updated: one line of English.
    public var problem: String?

    public init(path: String, urls: [String] = []) {
        self.path = path
        self.urls = urls
    }
}

extension FileRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case path, listedPath, totalBytes, checksum, pieces, urls, etag, lastModified, proof, completedAt, modified
        case storedETag, uploadID, problem, listed, currentBy
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        path = try container.decode(String.self, forKey: .path)
        (listedPath, listed, currentBy) = (try text(.listedPath), try text(.listed), try text(.currentBy))
        totalBytes = try container.decodeBytesIfPresent(forKey: .totalBytes)
        checksum = try container.decodeIfPresent(Checksum.self, forKey: .checksum)
        pieces = try container.decodeIfPresent(PieceDigests.self, forKey: .pieces)
        urls = try container.decodeIfPresent([String].self, forKey: .urls) ?? []
        (etag, lastModified) = (try text(.etag), try text(.lastModified))
        proof = try container.contains(.proof) ? container.decodeKind(Proof.self, of: "proof", forKey: .proof) : nil
        completedAt = try text(.completedAt).flatMap(RFC3339.date)
        (modified, storedETag, problem) = (try text(.modified), try text(.storedETag), try text(.problem))
        uploadID = try text(.uploadID)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encodeIfPresent(listedPath, forKey: .listedPath)
        try container.encodeIfPresent(listed, forKey: .listed)
        try container.encodeIfPresent(currentBy, forKey: .currentBy)
        try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        try container.encodeIfPresent(checksum, forKey: .checksum)
        try container.encodeIfPresent(pieces, forKey: .pieces)
        if !urls.isEmpty { try container.encode(urls, forKey: .urls) }
        try container.encodeIfPresent(etag, forKey: .etag)
        try container.encodeIfPresent(lastModified, forKey: .lastModified)
        try container.encodeIfPresent(proof?.rawValue, forKey: .proof)
        try container.encodeIfPresent(completedAt.map(RFC3339.text), forKey: .completedAt)
        try container.encodeIfPresent(modified, forKey: .modified)
        try container.encodeIfPresent(storedETag, forKey: .storedETag)
        try container.encodeIfPresent(uploadID, forKey: .uploadID)
        try container.encodeIfPresent(problem, forKey: .problem)
    }
}
