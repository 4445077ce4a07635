package import FerryCore
package import SystemPackage

extension Publisher {
    /// The state of an interrupted publication.
    package enum Recovery: Sendable, Hashable {
        /// The part file exists with its full length: open it and publish again.
        case again
        /// The file has its final name, which is now durable; the journal can be removed.
        case finished(FilePath)
        /// A file with the final name exists, but its content is not proven, for the given reason. A digest can
        /// decide.
        case unproven(FilePath, Reason)
        /// Neither file is usable; the payload describes the findings.
        case lost(Reason)
    }

    /// Determines the state of an announced publication, and completes it if possible. Files that fail the ownership
    /// check are not considered.
    ///
    /// `unsyncedBoot`: the journal's value; unsynced data is trusted only under the same boot.
    package func recover(
        _ publishing: JournalRecord.Publishing, part: FilePath, unsyncedBoot: String? = nil
    ) throws(FileError) -> Recovery {
        guard DownloadPaths.isBareName(publishing.name) else { return .lost(Reason(.unusableAnnouncement)) }
        let final = part.removingLastComponent().appending(publishing.name)
        // A file between link and unlink has two names.
        let published = try fileSystem.ours(at: final, for: .content)
        let rest = try fileSystem.statusIfPresent(part)
        let wasDropped = unsyncedBoot != nil && unsyncedBoot != fileSystem.bootID
        if let published, publishing.describes(published), published.device == publishing.device {
            if wasDropped {
                return .unproven(final, Reason(.unsyncedFile, final.string))
            }
            // Two names: the crash occurred between link and unlink.
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
    /// Returns whether inode number and length match, on any device.
    fileprivate func describes(_ status: FileStatus) -> Bool {
        status.inode == inode && status.length == length
    }
}
