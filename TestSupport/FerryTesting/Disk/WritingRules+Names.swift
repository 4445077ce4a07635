import FerryCore
import FerryEngine

/// The rules for publishing files, and for the contents of the disk when the engine starts.
extension WritingRules {
    /// Whether a user would mistake a file of this name for a finished one.
    static func isFinal(_ name: String) -> Bool {
        ![".part", ".part.old", ".part.ferry", ".part.ferry.old", ".part.ferry.new"].contains { name.hasSuffix($0) }
            && !isOfHandover(name) && !isDraft(name) && name != ledger
    }

    /// Whether the name is that of a file before it is renamed to its final name.
    private static func isDraft(_ name: String) -> Bool { name.hasPrefix(".incoming-") }

    /// The name of the file in a manager's state directory that records its runs.
    private static let ledger = "running"

    /// Whether the name belongs to a file in the directory of a manager's leases, or to the system's temporary file there.
    private static func isOfHandover(_ name: String) -> Bool {
        [".landed", ".landed.new"].contains { name.hasSuffix($0) }
            || ["ferry-leases.json", "CFNetworkDownload_"].contains { name.hasPrefix($0) }
    }

    /// Checks a new name of a file; `old` is its previous name.
    mutating func named(
        _ name: String, _ inode: UInt64, from old: String? = nil, in directory: UInt64, before: DiskImage,
        _ image: DiskImage
    ) {
        guard Self.isFinal(name), let file = image.inodes[inode] else { return }
        let isOfDraft = old.map(Self.isDraft) == true
        if let replaced = before.directories[directory]?.names[name], !isOfDraft,
            !isKept(replaced, name, directory, image)
        {
            broke("C3", "\(name) was replaced")
        }
        if !isWhole(file) { broke("C3", "\(name) is not whole\(syncs ? " and durable" : "")") }
        guard let old, !isOfDraft else { return }
        let journal = before.directories[directory]?.names[old + ".ferry"]
        guard let journal, let newest = newest(of: journal) else {
            return broke("C5", "\(old) got the name \(name) without a journal")
        }
        guard let publishing = newest.record.publishing, publishing.name == name, publishing.inode == inode,
            publishing.device == DiskImage.device, publishing.length == file.length
        else { return broke("C5", "\(old) got the name \(name), which was not announced") }
        if syncs, !newest.isStable { broke("C5", "the announcement of \(name) is not durable") }
    }

    /// Checks the removal of a name.
    mutating func unnamed(_ name: String, _ inode: UInt64, in directory: UInt64, _ image: DiskImage) {
        if Self.isFinal(name) { broke("C3", "\(name) was removed") }
        guard syncs, name.hasSuffix(".part.ferry"), let publishing = newest(of: inode)?.record.publishing,
            let entries = image.directories[directory], entries.names[publishing.name] == publishing.inode
        else { return }
        if !entries.keeps(publishing.name, publishing.inode) {
            broke("C5", "the announcement of \(publishing.name) was removed before the name was durable")
        }
    }

    private func isWhole(_ file: ModelInode) -> Bool { files.values.contains { isWhole(file, $0) } }

    private func isWhole(_ file: ModelInode, _ bytes: FileBytes) -> Bool {
        file.length == bytes.count
            && (syncs ? file.keeps(bytes, 0..<bytes.count) : file.holds(bytes, 0..<bytes.count))
    }

    /// Whether the replaced file, or a copy of it, durably has another final name.
    private func isKept(_ replaced: UInt64, _ name: String, _ directory: UInt64, _ image: DiskImage) -> Bool {
        guard let file = image.inodes[replaced],
            let bytes = files.values.first(where: { file.length == $0.count && file.holds($0, 0..<$0.count) })
        else { return false }
        return image.directories.contains { place, entries in
            entries.names.contains { other, inode in
                (place, other) != (directory, name) && Self.isFinal(other) && (!syncs || entries.keeps(other, inode))
                    && image.inodes[inode].map { isWhole($0, bytes) } == true
            }
        }
    }

    func newest(of journal: UInt64) -> JournalClaim? {
        claims[journal]?.values.joined().max { $0.sequence < $1.sequence }
    }

    /// Checks the disk when the engine starts: journals must be correct, and files with a final name must be complete.
    mutating func look(at image: DiskImage) {
        for entries in image.directories.values {
            for (name, inode) in entries.names {
                guard let file = image.inodes[inode], !file.isDirectory else { continue }
                // Without syncing, a final file may be torn.
                if Self.isFinal(name), syncs, !isWhole(file) { broke("C3", "\(name) is not whole") }
                guard name.hasSuffix(".part.ferry") || name.hasSuffix(".part.ferry.old") else { continue }
                let slots = JournalClaim.all(in: file.all)
                for (place, claim) in slots {
                    var claim = claim
                    claim.isStable = true
                    let boot = claim.record.unsyncedBoot
                    claim.isBinding =
                        (boot ?? image.bootID) == image.bootID && image.inodes[claim.record.partInode] != nil
                    claims[inode, default: [:]][place] = [claim]
                }
                guard let newest = slots.values.max(by: { $0.sequence < $1.sequence }) else { continue }
                if entries.names.values.contains(newest.record.partInode) { believe(newest, of: name, image) }
            }
        }
    }

    /// Checks a journal that the engine would trust.
    private mutating func believe(_ claim: JournalClaim, of name: String, _ image: DiskImage) {
        let record = claim.record
        guard record.unsyncedBoot == nil || record.unsyncedBoot == image.bootID else { return }
        guard let part = image.inodes[record.partInode], !part.isDirectory, let etag = record.identity.etag,
            let file = files[etag]
        else { return }
        for range in claim.ranges.ranges where !part.holds(file, range) {
            broke("C1", "\(name) claims \(range), which is lost")
        }
    }
}

extension ModelInode {
    /// The visible bytes.
    var all: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            count = read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }
}
