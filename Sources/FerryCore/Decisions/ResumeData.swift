public import struct Foundation.Date

public struct ResumeData: Sendable, Hashable {
    public var id: DownloadID
    public var urls: [String]
    public var part: String
    public var destination: String
    public var totalBytes: ByteCount?
    public var completedBytes: ByteCount
    public var etag: String?
    public var lastModified: String?
    public var checksum: String?
    public var createdAt: Date
    package init(
        id: DownloadID, urls: [String], part: String, destination: String, totalBytes: ByteCount?,
        completedBytes: ByteCount, etag: String?, lastModified: String?, checksum: String?, createdAt: Date
    ) {
        self.id = id
        self.urls = urls
        self.part = part
        self.destination = destination
        self.totalBytes = totalBytes
        self.completedBytes = completedBytes
        self.etag = etag
        self.lastModified = lastModified
        self.checksum = checksum
        self.createdAt = createdAt
    }
}
