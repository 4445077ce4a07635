/// What a journal says: which file the part file holds, and which of its ranges are safely there.
///
/// Every field is plain, so that a person can read it. No secrets: URLs carry no user info, headers none that are secret.
package struct JournalRecord: Codable, Hashable, Sendable {
    /// The version of the format; this code writes 1 and refuses larger ones.
    package static let currentVersion = 1

    package var version = JournalRecord.currentVersion
    package var id: String
    /// The URLs as asked for, with query, without user info; the first is the source.
    package var urls: [String]
    /// The final name, a name only: the journal lies beside it.
    package var name: String
    /// The size of the whole, once known.
    package var totalBytes: ByteCount?
    package var identity: FileIdentity
    /// The digest that was asked for, `sha-256=HEX`.
    package var checksum: String?
    /// The digest of the whole that the server offered with the bytes that are claimed, `sha-256=HEX`.
    package var offered: String?
    /// Claimed ranges, half-open `[start, end]`, ascending, not touching.
    package var claimed: [[ByteCount]]
    /// The part file that the claims are about.
    package var partDevice: UInt64
    package var partInode: UInt64
    /// When that file was made, seconds and nanoseconds since 1970: another file may get the same inode number. Absent where
    /// the file system does not say.
    package var partCreated: [Int64]?
    /// Claims were made without syncing: they count only under this boot.
    package var unsyncedBoot: String?
    /// The weakest join so far; `nil` while everything came in one response.
    package var weakestJoin: Proof?
    package var publishing: Publishing?
    /// The pair is on its way to another directory.
    package var moving: Moving?
    /// The path of the part file before it came here, as long as something may be left there.
    package var movedFrom: String?
    /// The whole did not have this digest: `expected`, `actual`, as `sha-256=HEX`.
    package var mismatch: Mismatch?
    /// What happened, newest last, at most ``maxEvents``.
    package var events: [Entry] = []
    /// Seconds since 1970 when the download was begun.
    package var createdAt: Double
    package var label: String?
    package var userInfo: [String: String]?
    package var session: String?
    package var position: Int?
    package var priority: Int?
    /// It was paused by its user; absent when it was not.
    package var isPaused: Bool?
    /// It was cancelled with resume data: it is in no list until that is used; absent when it was not.
    package var isTaken: Bool?
    /// Bytes per second at most; absent without a limit.
    package var rateLimit: ByteCount?
    /// The most connections; absent for the default.
    package var maxConnections: Int?
    /// Which networks it may use; absent when it follows the manager's setting.
    package var network: NetworkRule?
    package var headers: [String: String]?
    package var trust: TrustRules?
    /// The directory that the files may not be outside of; absent for none.
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
    package struct Moving: Codable, Hashable, Sendable {
        /// The path of the part file there, absolute.
        package var part: String
        /// Of the file that will have that path. Absent in journals of versions that did not write it down.
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
}
