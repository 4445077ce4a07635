public import struct Foundation.Date

/// The data with which an app can resume a cancelled download later: the path of the part file and the file's identity.
///
/// It contains URLs with their queries, but no credentials and no content: the bytes are in the part file, and only the
/// journal beside that records which of them are valid. Format: `docs/resume-data.md`.
public struct ResumeData: Sendable, Hashable {
    /// The format version that this code writes; larger ones are refused.
    package static let currentVersion = 1

    /// The format version, 1 or more.
    package let version: Int
    /// The identifier of the cancelled download.
    public let id: DownloadID
    /// The URLs, without user info, 1 to 100: the source, then mirrors.
    package let sources: [DownloadURL]
    /// The absolute path of the part file.
    public let partPath: String
    /// The size of the whole in bytes; `nil` when the server did not declare it.
    public let totalBytes: ByteCount?
    /// Bytes of partial content at the time of creation, 0 or more, at most ``totalBytes``.
    public let completedBytes: ByteCount
    /// The ETag as sent; `nil` when there was none.
    package let etag: String?
    /// The Last-Modified as sent; `nil` when there was none.
    package let lastModified: String?
    /// The expected digest.
    package let checksum: Checksum?
    /// The creation time, to the second.
    public let created: Date

    /// Creates resume data; throws `notResumable` if a value is invalid.
    package init(
        id: DownloadID, sources: [DownloadURL], partPath: String, totalBytes: ByteCount?, completedBytes: ByteCount,
        etag: String? = nil, lastModified: String? = nil, checksum: Checksum? = nil, created: Date
    ) throws(DownloadError) {
        let problem: ErrorPhrase.Key? =
            if id.rawValue.isEmpty || !id.isOneLine {
                .noID
            } else if sources.isEmpty {
                .noURLInIt
            } else if !Self.isPartPath(partPath) {
                .noPartPath
            } else if !completedBytes.isSize || totalBytes.map({ !$0.isSize || $0 < completedBytes }) ?? false {
                .impossibleSizes
            } else if abs(created.timeIntervalSince1970) > 1e12 || created.timeIntervalSince1970.isNaN {
                .impossibleTime
            } else {
                nil
            }
        if let problem { throw Self.damaged(Reason(problem)) }
        version = Self.currentVersion
        self.id = id
        self.sources = sources.prefix(DownloadRequest.mostSources).map(\.withoutCredentials)
        self.partPath = partPath
        self.totalBytes = totalBytes
        self.completedBytes = completedBytes
        self.etag = etag
        self.lastModified = lastModified
        self.checksum = checksum
        self.created = Date(timeIntervalSince1970: created.timeIntervalSince1970.rounded(.down))
    }

    /// The directory of the part file.
    package var partDirectory: String {
        let end = partPath.utf8.lastIndex(of: UInt8(ascii: "/")) ?? partPath.startIndex
        return end == partPath.startIndex ? "/" : String(partPath[..<end])
    }

    /// Whether the path is absolute, ends in `NAME.part`, and has no `..`: a new file may be created beside it.
    private static func isPartPath(_ path: String) -> Bool {
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let name = names.last, names.count > 1, names[0].isEmpty, !path.utf8.contains(0) else { return false }
        return name.count > 5 && name.suffix(5).elementsEqual(".part".utf8)
            && !names.contains { $0.elementsEqual("..".utf8) }
    }
}

extension DownloadURL {
    /// A copy without user info.
    package var withoutCredentials: DownloadURL {
        DownloadURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: nil)
    }
}
