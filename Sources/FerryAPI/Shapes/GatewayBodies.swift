package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// `GET /gateway`: the usage of the gateway's cache.
package struct GatewayUsage: Codable, Sendable, Hashable {
    /// The directory of the cache.
    package var directory: String
    package var files = 0
    /// The bytes of the files, including unfinished ones.
    package var bytes: ByteCount = 0
    /// The number of files that are not complete.
    package var unfinished = 0
    /// The number of files that a client is reading.
    package var inUse = 0
    /// The maximum size of the cache in bytes.
    package var limitBytes: ByteCount = 0
    /// The free bytes of the disk; `nil` if they cannot be determined.
    package var freeBytes: ByteCount?
    /// The number of bytes to keep free on the disk.
    package var reservedBytes: ByteCount?
    /// The number of seconds for which a file is kept after its last use.
    package var keptSeconds: Double = 0

    package init(directory: String) { self.directory = directory }
}

/// A file in the cache of the gateway.
package struct GatewayEntry: Codable, Sendable, Hashable {
    /// The identifier of the file's download, in the session `gateway`.
    package var id: String
    /// The file's name in its URL.
    package var name: String
    /// The URL without its query.
    package var url: String
    package var state: String
    package var bytes: ByteCount
    /// The digest that the file has or must have; `nil` if none is known.
    package var checksum: String?
    package var addedAt: Date
    package var usedAt: Date
    /// Whether a client is reading the file.
    package var isInUse: Bool

    package init(
        id: String, name: String, url: String, state: String, bytes: ByteCount, checksum: String?, addedAt: Date,
        usedAt: Date, isInUse: Bool
    ) {
        (self.id, self.name, self.url, self.state, self.bytes) = (id, name, url, state, bytes)
        (self.checksum, self.addedAt, self.usedAt, self.isInUse) = (checksum, addedAt, usedAt, isInUse)
    }
}

/// `GET /gateway/files`: the most recently used file first.
package struct GatewayItems: Codable, Sendable, Hashable {
    package var items: [GatewayEntry]
    package init(_ items: [GatewayEntry]) { self.items = items }
}

/// `POST /gateway/purge`: the files to remove from the cache, selected by one of the members.
package struct PurgeBody: ClientBody, Encodable, Hashable {
    /// Names or identifiers of files, or prefixes of identifiers.
    package var words: [String]?
    /// The minimum number of seconds since the last use.
    package var olderThan: Double?
    /// Whether all files are removed.
    package var all: Bool?

    package init(words: [String]? = nil, olderThan: Double? = nil, all: Bool? = nil) {
        (self.words, self.olderThan, self.all) = (words, olderThan, all)
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case words, olderThan, all }
}

/// The response to `POST /gateway/purge`.
package struct PurgeReport: Codable, Sendable, Hashable {
    package var removed: [GatewayEntry] = []
    /// Files that are kept, because a client is reading them or they are being fetched.
    package var kept: [GatewayEntry] = []
    package init() {}
}

/// The response to `POST /gateway/verify`.
package struct VerifyReport: Codable, Sendable, Hashable {
    /// The number of files that match their digests, and their total size in bytes.
    package var intact = 0
    package var intactBytes: ByteCount = 0
    /// The number of complete files without a digest.
    package var unverified = 0
    /// Files that do not match their digests, and missing files. They have been removed from the cache, or are being fetched
    /// again for their clients.
    package var damaged: [GatewayEntry] = []
    package init() {}
}
