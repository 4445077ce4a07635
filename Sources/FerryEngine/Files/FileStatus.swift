package import FerryCore

/// The status of a file, as `stat` returns it.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case regular, directory, symbolicLink, other
    }

    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    /// The allocated space; less than `length` for a file with holes.
    package var allocatedBytes: ByteCount
    /// The permission bits, `07777`.
    package var mode: UInt16
    /// The owning user and group.
    package var owner: UInt32
    package var group: UInt32
    package var modified: FileTime
    package var linkCount: UInt64
    package var kind: Kind
    /// The creation time, which distinguishes the file from an earlier one with the same inode number. `nil` if the
    /// file system does not record it, or if the status was taken by path instead of from an open file.
    package var created: FileTime?

    package init(
        device: UInt64, inode: UInt64, length: ByteCount, allocatedBytes: ByteCount, mode: UInt16, owner: UInt32,
        group: UInt32, modified: FileTime, linkCount: UInt64, kind: Kind, created: FileTime? = nil
    ) {
        self.device = device
        self.inode = inode
        self.length = length
        self.allocatedBytes = allocatedBytes
        self.mode = mode
        self.owner = owner
        self.group = group
        self.modified = modified
        self.linkCount = linkCount
        self.kind = kind
        self.created = created
    }

    /// Returns whether both statuses belong to the same file, regardless of its name.
    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}

/// A point in time at the resolution of file systems: seconds since 1970 and nanoseconds.
package struct FileTime: Sendable, Hashable, Codable, Comparable {
    package let seconds: Int64
    /// 0 ..< 1,000,000,000.
    package let nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
    }

    /// Converts seconds since 1970, rounded down to the microsecond; `nil` if not finite or beyond ±2^40 seconds.
    package init?(secondsSince1970 value: Double) {
        guard value.isFinite, abs(value) < 1_099_511_627_776 else { return nil }
        let whole = value.rounded(.down)
        self.init(seconds: Int64(whole), nanoseconds: Int32((value - whole) * 1_000_000) * 1000)
    }

    /// Seconds and nanoseconds, the journal's representation.
    package var pair: [Int64] { [seconds, Int64(nanoseconds)] }

    /// Seconds with nine decimals, as a manifest states it: `1700000000.000000000`.
    package var text: String {
        let digits = String(nanoseconds)
        return "\(seconds)." + String(repeating: "0", count: 9 - digits.utf8.count) + digits
    }

    /// Reads ``text``; `nil` for anything else.
    package init?(text: String) {
        let parts = text.split(at: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 9, let seconds = Int64(parts[0]),
            let nanoseconds = Int32(parts[1]), nanoseconds >= 0
        else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    package var secondsSince1970: Double { Double(seconds) + Double(nanoseconds) / 1_000_000_000 }

    package static func < (lhs: FileTime, rhs: FileTime) -> Bool {
        (lhs.seconds, lhs.nanoseconds) < (rhs.seconds, rhs.nanoseconds)
    }
}
