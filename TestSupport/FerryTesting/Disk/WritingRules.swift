import FerryCore
import FerryEngine

/// The rules of the journal and of publishing, checked at every step of a ``ModelDisk``.
///
/// 1. The bytes that a journal claims are in its part file, belong to its file identity, and survive any power cut,
///    because a sync that began after the write has succeeded. (Without syncing: the bytes were written, and the record
///    names the boot.)
/// 2. Within one part file and identity, claims only grow, and claimed bytes do not change.
/// 3. A file that gets a final name is complete, durable and announced, and replaces only a file that durably has another
///    final name. The announcement is removed only after the name is durable.
package struct WritingRules: Sendable {
    /// The files of the server, by ETag.
    let files: [String: FileBytes]
    /// False for `--no-fsync`.
    let syncs: Bool
    /// Whether the test includes retracted claims.
    let mayShrink: Bool
    /// The violations so far.
    package internal(set) var violations: [String] = []
    /// The contents of each journal's slots, by inode and offset: the durable version first, then possible newer ones.
    var claims: [UInt64: [Int: [JournalClaim]]] = [:]
    /// The verified and durable ranges of each part file, and their identity.
    private var safe: [UInt64: (etag: String, ranges: RangeSet<ByteCount>)] = [:]
    /// The last claims for each part file.
    private var last: [UInt64: (etag: String?, ranges: RangeSet<ByteCount>)] = [:]

    /// - Parameter files: All current and earlier versions of the files on the server.
    package init(_ files: [Resource] = [], syncs: Bool = true, mayShrink: Bool = false) {
        self.files = Dictionary(files.compactMap { file in file.etag.map { ($0, FileBytes.of(file)) } }) { $1 }
        self.syncs = syncs
        self.mayShrink = mayShrink
    }

    /// The same rules for the disk that a power cut leaves.
    var afterRestart: WritingRules {
        var rules = self
        rules.violations = []
        (rules.claims, rules.safe, rules.last) = ([:], [:], [:])
        return rules
    }

    mutating func broke(_ rule: String, _ what: String) { violations.append("\(rule): \(what)") }

    /// Forgets an inode number, which refers to a different file from now on.
    mutating func forget(_ inode: UInt64) {
        claims[inode] = nil
        safe[inode] = nil
        last[inode] = nil
        for (journal, slots) in claims {
            for (place, found) in slots {
                for index in found.indices where found[index].record.partInode == inode {
                    claims[journal]?[place]?[index].isBinding = false
                }
            }
        }
    }

    // MARK: Steps

    mutating func wrote(_ inode: UInt64, _ bytes: [UInt8], at offset: ByteCount, tag: Int, _ image: DiskImage) {
        let range = offset..<offset + ByteCount(bytes.count)
        for (promised, etag) in promises(about: inode) {
            let touched = promised.intersection(RangeSet(range))
            for part in touched.ranges where !isRight(bytes, range, part, etag) {
                broke("C2", "claimed bytes \(part) of file \(inode) were overwritten with others")
            }
        }
        if let known = safe[inode], !isRight(bytes, range, range, known.etag) {
            safe[inode]?.ranges.remove(contentsOf: range)
        }
        for (place, claim) in JournalClaim.all(in: bytes, at: Int(offset)) {
            var claim = claim
            claim.tag = tag
            check(claim, image)
            claims[inode, default: [:]][place, default: []].append(claim)
        }
    }

    mutating func truncated(_ inode: UInt64, to length: ByteCount) {
        for (promised, _) in promises(about: inode) {
            if let end = promised.ranges.last?.upperBound, end > length {
                broke("C2", "file \(inode) was cut to \(length) bytes where \(end) are claimed")
            }
        }
        safe[inode]?.ranges.remove(contentsOf: length..<ByteCount.max)
    }

    mutating func synced(_ inode: UInt64, upTo mark: Int) {
        guard let slots = claims[inode] else { return }
        for (place, found) in slots {
            guard let index = found.lastIndex(where: { $0.tag <= mark }) else { continue }
            claims[inode]?[place] = Array(found[index...])
            claims[inode]?[place]?[0].isStable = true
        }
        // Bytes that no durable record claims may be written again with other contents.
        if let newest = newest(of: inode), newest.isStable { note(newest) }
    }

    private mutating func note(_ claim: JournalClaim) {
        last[claim.record.partInode] = (claim.record.identity.etag, claim.ranges)
    }

    // MARK: Claims

    private mutating func check(_ claim: JournalClaim, _ image: DiskImage) {
        let record = claim.record
        let ranges = claim.ranges
        if syncs, record.unsyncedBoot != nil { broke("C1", "record \(claim.sequence) says that it was not synced") }
        if !syncs, record.unsyncedBoot != image.bootID, !ranges.isEmpty {
            broke("C1", "record \(claim.sequence) does not say that it was not synced")
        }
        let before = last[record.partInode]
        if let before, before.etag == record.identity.etag, !mayShrink {
            let lost = before.ranges.subtracting(ranges)
            if !lost.isEmpty { broke("C2", "record \(claim.sequence) takes back \(lost)") }
        }
        if !syncs { note(claim) }
        guard !ranges.isEmpty else { return }
        guard let etag = record.identity.etag, let file = files[etag] else {
            return broke("C1", "record \(claim.sequence) claims bytes of a file that no server has")
        }
        guard record.partDevice == DiskImage.device, let part = image.inodes[record.partInode], !part.isDirectory else {
            return broke("C1", "record \(claim.sequence) claims bytes of a part file that is not there")
        }
        if let known = safe[record.partInode], known.etag != etag { safe[record.partInode] = nil }
        let known = safe[record.partInode]?.ranges ?? RangeSet()
        for range in ranges.subtracting(known).ranges {
            if syncs ? part.keeps(file, range) : part.holds(file, range) {
                safe[record.partInode, default: (etag, RangeSet())].ranges.insert(contentsOf: range)
            } else {
                broke("C1", "record \(claim.sequence) claims \(range), which is not \(syncs ? "safely " : "")there")
            }
        }
    }

    /// Returns the binding claims for this file in all journals that may survive.
    private func promises(about inode: UInt64) -> [(RangeSet<ByteCount>, String)] {
        claims.values.flatMap { $0.values.joined() }.compactMap { claim in
            guard claim.isBinding, claim.record.partInode == inode, let etag = claim.record.identity.etag else {
                return nil
            }
            return (claim.ranges, etag)
        }
    }

    private func isRight(_ bytes: [UInt8], _ range: Range<ByteCount>, _ part: Range<ByteCount>, _ etag: String) -> Bool
    {
        guard let file = files[etag] else { return false }
        let start = Int(part.lowerBound - range.lowerBound)
        let count = Int(part.upperBound - part.lowerBound)
        return bytes.withUnsafeBytes {
            file.equals(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]), at: part.lowerBound)
        }
    }
}
