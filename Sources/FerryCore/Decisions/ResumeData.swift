public import struct Foundation.Date

/// What an app keeps of a cancelled download to go on with it later: where its part file is, and which file it holds.
///
/// Its fields can be read. It holds URLs with their queries and no credentials, and none of the bytes: those are in the
/// part file, and only the journal beside that says which of them count. Format: `docs/resume-data.md`.
public struct ResumeData: Sendable, Hashable {
    /// The version of the format that this code writes; larger ones are refused.
    public static let currentVersion = 1

    /// The version of the format, 1 or more.
    public let version: Int
    /// The download that it was made of.
    public let id: DownloadID
    /// The URLs, without user info, 1 to 100; the first is the source, further ones are mirrors.
    public let sources: [DownloadURL]
    /// The absolute path of the part file.
    public let partPath: String
    /// The size of the whole; `nil` when the server did not say it.
    public let totalBytes: ByteCount?
    /// The bytes that were held when it was made; 0 or more, at most ``totalBytes``.
    public let completedBytes: ByteCount
    /// The ETag as sent; `nil` when there was none.
    public let etag: String?
    /// Last-Modified as sent; `nil` when there was none.
    public let lastModified: String?
    /// The digest that was asked for.
    public let checksum: Checksum?
    /// When it was made, to the second.
    public let created: Date

    /// Makes one; throws `notResumable` where it would say what cannot be.
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

    /// The directory that the part file lies in.
    package var partDirectory: String {
        let end = partPath.utf8.lastIndex(of: UInt8(ascii: "/")) ?? partPath.startIndex
        return end == partPath.startIndex ? "/" : String(partPath[..<end])
    }

    /// An absolute path that ends in `NAME.part`, with no way up in it: a new file may be made beside it.
    private static func isPartPath(_ path: String) -> Bool {
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let name = names.last, names.count > 1, names[0].isEmpty, !path.utf8.contains(0) else { return false }
        return name.count > 5 && name.suffix(5).elementsEqual(".part".utf8)
            && !names.contains { $0.elementsEqual("..".utf8) }
    }
}

extension DownloadURL {
    /// The same without user info.
    package var withoutCredentials: DownloadURL {
        DownloadURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: nil)
    }
}
