package import FerryCore
package import SystemPackage

extension Publisher {
    /// How far publishing had come when it was cut off.
    package enum Recovery: Sendable, Hashable {
        /// The part file is there and has its length: open it and publish again.
        case again
        /// It has its final name, now durable; the journal can go.
        case finished(FilePath)
        /// The file seems to have its final name, but that proves nothing: why is said. A digest can decide.
        case unproven(FilePath, Reason)
        /// Neither; what was found is said.
        case lost(Reason)
    }

    /// Finds out what became of an announced file, and finishes what can be finished. What is not ours is not that file.
    ///
    /// `unsyncedBoot` is the journal's: what was written without syncing is believed under that boot only.
    package func recover(
        _ publishing: JournalRecord.Publishing, part: FilePath, unsyncedBoot: String? = nil
    ) throws(FileError) -> Recovery {
        guard DownloadPaths.isBareName(publishing.name) else { return .lost(Reason(.unusableAnnouncement)) }
        let final = part.removingLastComponent().appending(publishing.name)
        // Between link and unlink it has two names.
        let published = try fileSystem.ours(at: final, for: .content)
        let rest = try fileSystem.statusIfPresent(part)
        let wasDropped = unsyncedBoot != nil && unsyncedBoot != fileSystem.bootID
        if let published, publishing.describes(published), published.device == publishing.device {
            if wasDropped {
                return .unproven(final, Reason(.unsyncedFile, final.string))
            }
            // Both names: the crash came between link and unlink.
            // allow(ours): the same file keeps its final name.
            if let rest, rest.isSameFile(as: published) { try fileSystem.unlink(part) }
            _ = try syncDirectory(of: final)
            return .finished(final)
        }
        if let rest {
            guard fileSystem.flaw(of: rest, at: part) == nil, rest.inode == publishing.inode,
                rest.device == publishing.device
            else {
                return .lost(Reason(.otherThanAnnounced, part.string))
            }
            guard rest.length == publishing.length else {
                return .lost(Reason(.wrongLength, part.string, "\(rest.length)", "\(publishing.length)"))
            }
            if wasDropped { return .lost(Reason(.unsyncedFile, part.string)) }
            return .again
        }
        if let published, publishing.describes(published) {
            return .unproven(final, Reason(.otherDevice, final.string))
        }
        return .lost(Reason(.neitherPublished, part.string, final.string))
    }
}

extension JournalRecord.Publishing {
    /// Whether number and length are those of this file, on whatever device.
    fileprivate func describes(_ status: FileStatus) -> Bool {
        status.inode == inode && status.length == length
    }
}
