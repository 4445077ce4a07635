/// The content of a journal: the identity of the file and the byte ranges that are durably stored in the part file.
///
/// Every field is human-readable. Secrets are never stored: neither user info in URLs nor secret headers.
package struct JournalRecord: Codable, Hashable, Sendable {
    /// The format version that this code writes; newer versions are refused.
    package static let currentVersion = 1

    package var version = JournalRecord.currentVersion
    package var id: String
    /// The requested URLs, with query and without user info; the first is the source.
    package var urls: [String]
    /// The final name of the file, which will be in the journal's directory.
    package var name: String
    /// Whether the request specified the name, rather than the URL or the server; absent if not.
    package var isNameRequested: Bool?
    /// The size of the whole file in bytes, once known.
    package var totalBytes: ByteCount?
    package var identity: FileIdentity
    /// The requested digest, `sha-256=HEX`.
    package var checksum: String?
    /// The digest of the whole file that the server declared with the claimed bytes, `sha-256=HEX`.
    package var offered: String?
    /// Claimed ranges, half-open `[start, end]`, ascending, not adjacent.
    package var claimed: [[ByteCount]]
    /// The device and inode of the part file that the claims refer to.
    package var partDevice: UInt64
    package var partInode: UInt64
    /// The birth time of the part file, in seconds and nanoseconds since 1970, because inode numbers are reused. Absent
    /// if the file system does not record it.
    package var partCreated: [Int64]?
    /// The boot during which unsynced claims were made; the claims are valid only during that boot.
    package var unsyncedBoot: String?
    /// The weakest join so far; `nil` while all bytes come from one response.
    package var weakestJoin: Proof?
    package var publishing: Publishing?
    /// The object that the file is uploaded to; absent if the file is not uploaded.
    package var upload: Upload?
    /// An unfinished move of the part file and the journal to another directory.
    package var moving: Moving?
    /// The previous path of the part file, while files may still exist there.
    package var movedFrom: String?
    /// The digest mismatch of the whole file: `expected`, `actual`, as `sha-256=HEX`.
    package var mismatch: Mismatch?
    /// The log of events, newest last, at most ``maxEvents``.
    package var events: [Entry] = []
    /// The creation time of the download, in seconds since 1970.
    package var createdAt: Double
    package var label: String?
    package var userInfo: [String: String]?
    package var session: String?
    package var position: Int?
    package var priority: Int?
    /// Whether the user paused the download; absent if not.
    package var isPaused: Bool?
    /// Whether the download was cancelled with resume data, and is not listed until that data is used; absent if not.
    package var isTaken: Bool?
    /// The rate limit in bytes per second; absent if there is none.
    package var rateLimit: ByteCount?
    /// The maximum number of connections; absent for the default.
    package var maxConnections: Int?
    /// The networks that the download may use; absent if the manager's setting applies.
    package var network: NetworkRule?
    package var trust: TrustRules?
    /// Further rules of the request; absent if all are defaults.
    package var rules: JournalRules?
    /// The file under the final name that the finished one replaces; absent if there is none.
    package var replaces: Replaced?
    /// The directory that confines the files; absent if there is none.
    package var root: String?

    package static let maxEvents = 50

    package struct Publishing: Codable, Hashable, Sendable {
        package var name: String
        package var device: UInt64
        package var inode: UInt64
        package var length: ByteCount
        package init(name: String, device: UInt64, inode: UInt64, length: ByteCount) {
            self.name = name
            self.device = device
            self.inode = inode
            self.length = length
        }
    }
    /// The fingerprint of a file. Because it cannot be guessed, a journal from another user cannot name a file of this user.
    package struct Replaced: Codable, Hashable, Sendable {
        package var device: UInt64
        package var inode: UInt64
        package var length: ByteCount
        /// The modification time, in seconds and nanoseconds since 1970.
        package var modified: [Int64]
        package init(device: UInt64, inode: UInt64, length: ByteCount, modified: [Int64]) {
            self.device = device
            self.inode = inode
            self.length = length
            self.modified = modified
        }
    }
    /// An object, and the multipart upload that creates it. Only the store knows which parts have been uploaded.
    package struct Upload: Codable, Hashable, Sendable {
        /// The object, `s3://BUCKET/KEY`.
        package var object: String
        /// The store's identifier of the upload; absent until the upload has been created.
        package var id: String?
        package init(object: String, id: String?) {
            self.object = object
            self.id = id
        }

        /// Whether a text is valid as the identifier of an upload. The text is stored in journals and sent in
        /// queries.
        package static func isIdentifier(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }
    package struct Moving: Codable, Hashable, Sendable {
        /// The absolute path of the part file at the destination.
        package var part: String
        /// The device of the part file at the destination. Absent in journals of older versions.
        package var device: UInt64?
        package var inode: UInt64
        package init(part: String, device: UInt64?, inode: UInt64) {
            self.part = part
            self.device = device
            self.inode = inode
        }
    }
    package struct Mismatch: Codable, Hashable, Sendable {
        package var expected: String
        package var actual: String
        package init(expected: String, actual: String) {
            self.expected = expected
            self.actual = actual
        }
    }
    package struct Entry: Codable, Hashable, Sendable {
        /// Seconds since 1970.
        package var time: Double
        package var text: String
        package init(time: Double, text: String) {
            self.time = time
            self.text = text
        }
    }

    package init(
        id: String, urls: [String], name: String, totalBytes: ByteCount?, identity: FileIdentity,
        checksum: String? = nil, claimed: [[ByteCount]] = [], partDevice: UInt64 = 0, partInode: UInt64 = 0,
        createdAt: Double
    ) {
        self.id = id
        self.urls = urls
        self.name = name
        self.totalBytes = totalBytes
        self.identity = identity
        self.checksum = checksum
        self.claimed = claimed
        self.partDevice = partDevice
        self.partInode = partInode
        self.createdAt = createdAt
    }

    /// Whether the list contains the URL, including in the form that earlier versions wrote.
    package func names(_ url: DownloadURL) -> Bool {
        urls.contains(url.text) || DownloadURL.earlierText(of: url.text).map(urls.contains) ?? false
    }
}
