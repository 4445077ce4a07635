public import FerryCore

/// What the downloads of a manager hold on the disk.
public struct StorageReport: Sendable, Hashable {
    /// Bytes in part files of listed downloads that have not ended.
    public var partBytes: ByteCount = 0
    /// Bytes of completed downloads that are listed.
    public var finishedBytes: ByteCount = 0
    /// Part files in the manager's directory that no listed download names; ``DownloadManager/adopt(_:)`` lists one.
    public var orphanedParts: [String] = []
    /// Bytes that the journals of the orphaned ones claim.
    public var orphanedBytes: ByteCount = 0

    public init() {}
}
