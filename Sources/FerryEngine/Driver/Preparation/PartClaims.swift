import FerryCore

/// The bytes of a part file that are trusted at the start of a run: the claims of its journal, as far as the file confirms them.
struct PartClaims {
    /// The open part file.
    struct Facts {
        var device: UInt64
        var inode: UInt64
        var created: FileTime?
        var length: ByteCount

        init(device: UInt64, inode: UInt64, created: FileTime?, length: ByteCount) {
            (self.device, self.inode, self.created, self.length) = (device, inode, created, length)
        }

        init(_ part: PartFile) throws(FileError) {
            self.init(device: part.device, inode: part.inode, created: part.created, length: try part.length())
        }
    }

    enum Verdict: Equatable {
        case usable
        /// No journal entry claims a byte, so nothing is lost with the part file.
        case empty
        /// The bytes cannot be used; they stay in the backup until the new file is published.
        case setAside(Reason)

        /// Returns whether the server is first asked about a finished file with the wanted name: if the part file's bytes cannot
        /// be used, or belong to the same representation.
        func yields(to file: Prepared.EarlierFile?, _ record: JournalRecord) -> Bool {
            switch self {
            case .empty: false
            case .setAside: true
            case .usable:
                file?.identity.map { IdentityComparison.compare(known: record.identity, offered: $0, strict: true) }
                    == .same
            }
        }
    }

    /// The record, updated for the current part file.
    let record: JournalRecord
    let ranges: RangeSet<ByteCount>
    /// Whether the content of the file may differ from what the journal claims.
    let isDoubtful: Bool
    /// The notes to the user about the differences, in order.
    let notes: [Reason]

    /// - Parameters:
    ///   - bootID: The identifier of the current boot.
    ///   - hasDigest: Whether a digest of the whole file will verify bytes that were never synced.
    init(_ record: JournalRecord, of part: Facts, bootID: String?, hasDigest: Bool) {
        var (current, ranges, notes) = (record, RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet(), [Reason]())
        var isDoubtful = false
        if let boot = record.unsyncedBoot, boot != bootID, !hasDigest {
            notes.append(Reason(.wasNotSynced))
            ranges = RangeSet()
        }
        if let last = ranges.ranges.last, last.upperBound > part.length {
            notes.append(Reason(.partShortened, ByteText.size(part.length)))
            ranges = ranges.intersection(RangeSet(0..<part.length))
            isDoubtful = true
        }
        let isRemade = record.partCreated != nil && part.created != nil && record.partCreated != part.created?.pair
        if part.device != record.partDevice || part.inode != record.partInode || isRemade {
            notes.append(Reason(.partMovedHere))
            isDoubtful = true
            (current.partDevice, current.partInode) = (part.device, part.inode)
            current.partCreated = part.created?.pair
        }
        (self.record, self.ranges, self.isDoubtful, self.notes) = (current, ranges, isDoubtful, notes)
    }

    /// The record that claims only ``ranges``; `nil` if the journal's record claims the same.
    var retracted: JournalRecord? {
        guard ranges.pairs != record.claimed else { return nil }
        var record = record
        record.claimed = ranges.pairs
        return record
    }

    /// Returns whether a transfer can resume with the bytes.
    func verdict(_ digest: ExpectedDigest, _ request: DownloadRequest) -> Verdict {
        let wanted = digest.requested ?? digest.offered
        if let mismatch = record.mismatch, !request.ignoresEarlierChecksum,
            wanted?.description ?? mismatch.expected == mismatch.expected
        {
            return .setAside("its digest was \(mismatch.actual), not \(mismatch.expected)")
        }
        // The earlier run joined the bytes because a digest was to prove them, but no digest is expected now.
        if wanted == nil, record.checksum ?? record.offered != nil, let join = record.weakestJoin, join < .sampled,
            !request.trust.allowsUnprovenParts
        {
            return .setAside(Reason(.joinedForDigest))
        }
        guard ranges.isEmpty else { return .usable }
        return record.claimed.isEmpty ? .empty : .setAside("nothing of it can be believed")
    }
}
