/// The disk space that the downloads of a manager use.
public struct StorageReport: Sendable, Hashable, Codable {
    /// Bytes received by listed downloads that are neither completed nor cancelled.
    public var partBytes: ByteCount = 0
    /// Bytes of the files of listed, completed downloads.
    public var finishedBytes: ByteCount = 0
    /// Paths of part files in the manager's directory that belong to no listed download; use
    /// ``DownloadManager/adopt(_:)-(String)`` to list one.
    public var orphanedParts: [String] = []
    /// Bytes that the journals of the orphaned part files claim.
    public var orphanedBytes: ByteCount = 0

    /// Creates a report of zero bytes.
    public init() {}
}
