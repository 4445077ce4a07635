package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// A download in lists, responses and events. Contains no secrets: neither user info in URLs nor header fields.
@dynamicMemberLookup
package struct ListedDownload: Sendable, Hashable {
    package var status: DownloadStatus
    package var network = NetworkRule()
    private var facts: Facts

    package struct Facts: Codable, Sendable, Hashable {
        package var session: String
        /// The source with its query, which every permitted client may see.
        package var url: String
        /// The destination directory, until the download has a `path`; `nil` for a part file given by path.
        package var directory: String?
        /// The position among downloads of equal priority; downloads with lower positions start first. Not an index.
        package var position = 0
        package var priority = DownloadPriority.normal
        package var label: String?
        package var userInfo: [String: String] = [:]
        /// The validator (ETag or Last-Modified) of a completed file, as sent by the server. ``DownloadDetail`` also contains
        /// the validator of an unfinished file.
        package var validator: String?
        /// The expected digest.
        package var checksum: Checksum?
        package var rateLimit: ByteCount?
        package var maxConnections = DownloadRequest.plain.maxConnections
        /// The rule for a file name that is already in use; `nil` for ``ConflictRule/rename``.
        package var onConflict: ConflictRule?
        /// The earliest start of a download that waits, is paused or has failed; in the past if it no longer applies.
        package var notBefore: Date?
        /// True for a completed download whose file already existed: nothing was fetched, and a removal keeps the file.
        package var wasAlreadyComplete: Bool?
        package var addedAt: Date
        package var endedAt: Date?
        /// The position in the daemon's log of updates up to which the download is current. Of two versions of a download that
        /// were sent during one boot of the daemon, the one with the larger position is newer. `nil` if an older daemon sent
        /// the download.
        package var asOf: UInt64?
        /// The state of a library's handle, for clients that request it.
        package var handle: HandleBody?
    }

    package init(status: DownloadStatus, session: String, url: String, addedAt: Date) {
        self.status = status
        facts = Facts(session: session, url: url, addedAt: addedAt)
    }

    package var id: DownloadID { status.id }

    package subscript<Value>(dynamicMember path: WritableKeyPath<Facts, Value>) -> Value {
        get { facts[keyPath: path] }
        set { facts[keyPath: path] = newValue }
    }
}

/// Encoded as the members of the status, the network rule and the facts, and as `actions`: the actions that are currently
/// valid.
extension ListedDownload: Codable {
    private enum CodingKeys: String, CodingKey { case actions }

    package init(from decoder: any Decoder) throws {
        status = try DownloadStatus(from: decoder)
        network = try NetworkRule(from: decoder)
        facts = try Facts(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        try network.encode(to: encoder)
        try facts.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(DownloadAction.allCases.filter(status.actions.contains), forKey: .actions)
    }
}

/// A page of the list.
package struct DownloadPage: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    /// The number of downloads that match the query, on all pages.
    package var total: Int
    /// The index of the first item of this page.
    package var offset: Int
    /// The position in the daemon's log of updates up to which the page is current. The page may also reflect some later
    /// additions and removals.
    package var asOf: UInt64

    package init(items: [ListedDownload], total: Int, offset: Int = 0, asOf: UInt64 = 0) {
        self.items = items
        self.total = total
        self.offset = offset
        self.asOf = asOf
    }
}

/// Several downloads, in the requested order.
package struct DownloadItems: Codable, Sendable, Hashable {
    package var items: [ListedDownload]
    package init(_ items: [ListedDownload]) { self.items = items }
}
