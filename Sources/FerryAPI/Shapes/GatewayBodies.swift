package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// `GET /gateway`: what the cache of the gateway holds.
package struct GatewayUsage: Codable, Sendable, Hashable {
    /// The directory of the cache.
    package var directory: String
    package var files = 0
    /// The bytes of its files, also of unfinished ones.
    package var bytes: ByteCount = 0
    /// The files that are not complete.
    package var unfinished = 0
    /// The files that a client reads now.
    package var inUse = 0
    /// The bytes that it keeps at most.
    package var limitBytes: ByteCount = 0
    /// The free bytes of its disk; `nil` if the system does not say.
    package var freeBytes: ByteCount?
    /// The bytes that stay free.
    package var reservedBytes: ByteCount?
    /// The seconds for which a file stays after its last use.
    package var keptSeconds: Double = 0

    package init(directory: String) { self.directory = directory }
}

/// A file in the cache of the gateway.
package struct GatewayEntry: Codable, Sendable, Hashable {
    /// The identifier of its download, in the session `gateway`.
    package var id: String
    /// The file's name in its URL.
    package var name: String
    /// The URL without its query.
    package var url: String
    package var state: String
    package var bytes: ByteCount
    /// The digest that it has or must have; `nil` if none is known.
    package var checksum: String?
    package var addedAt: Date
    package var usedAt: Date
    /// Whether a client reads it now.
    package var isInUse: Bool

    package init(
        id: String, name: String, url: String, state: String, bytes: ByteCount, checksum: String?, addedAt: Date,
        usedAt: Date, isInUse: Bool
    ) {
        (self.id, self.name, self.url, self.state, self.bytes) = (id, name, url, state, bytes)
        (self.checksum, self.addedAt, self.usedAt, self.isInUse) = (checksum, addedAt, usedAt, isInUse)
    }
}

/// `GET /gateway/files`: the file that was used last first.
package struct GatewayItems: Codable, Sendable, Hashable {
    package var items: [GatewayEntry]
    package init(_ items: [GatewayEntry]) { self.items = items }
}

/// `POST /gateway/purge`: the files that leave the cache, by one of its members.
package struct PurgeBody: ClientBody, Encodable, Hashable {
    /// Names, identifiers or the beginnings of identifiers.
    package var words: [String]?
    /// The seconds since the last use.
    package var olderThan: Double?
    /// Whether all leave.
    package var all: Bool?

    package init(words: [String]? = nil, olderThan: Double? = nil, all: Bool? = nil) {
        (self.words, self.olderThan, self.all) = (words, olderThan, all)
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case words, olderThan, all }
}

/// The response to `POST /gateway/purge`.
package struct PurgeReport: Codable, Sendable, Hashable {
    package var removed: [GatewayEntry] = []
    /// Files that stay, as a client reads them or they are being fetched.
    package var kept: [GatewayEntry] = []
    package init() {}
}

/// The response to `POST /gateway/verify`.
package struct VerifyReport: Codable, Sendable, Hashable {
    /// The number of files that have their digests, and of their bytes.
    package var intact = 0
    package var intactBytes: ByteCount = 0
    /// The number of complete files without a digest.
    package var unverified = 0
    /// Files with other bytes, or that are gone: they have left the cache, or are being fetched again for their clients.
    package var damaged: [GatewayEntry] = []
    package init() {}
}
