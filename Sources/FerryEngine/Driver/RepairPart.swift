package import FerryCore
package import SystemPackage

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The part file of a repair: a copy of a finished file, with a journal that claims the intact bytes.
///
/// A download that resumes it fetches the remaining bytes under the validator of the first download, compares the digest, and
/// atomically replaces the damaged file, which is not changed before that.
package enum RepairPart {
    /// Creates the part file beside the file, or returns the part file of an interrupted repair. Blocks.
    ///
    /// - Parameters:
    ///   - record: The size, validator and digest of the file as it was downloaded.
    ///   - damaged: The bytes that are not copied; bytes beyond the end of the file count as damaged.
    ///   - id: The identifier of the download in the journal.
    /// - Throws: `conflict` if another download has the name, `disk` if the file cannot be read or copied.
    package static func make(
        of file: FilePath, _ record: FileRecord, damaged: RangeSet<ByteCount>, id: DownloadID, now: Date,
        fileSystem: any FileSystem
    ) throws(DownloadError) -> DownloadPaths {
        guard let total = record.totalBytes, let name = file.lastComponent?.string,
            let paths = DownloadPaths(directory: file.removingLastComponent(), name: name)
        else { throw DownloadError(.invalidRequest, ErrorPhrase(.notRepairable, "\(file)")) }
        if let earlier = try? Journal.read(at: paths.journal, fileSystem: fileSystem) {
            guard isRepair(earlier, of: record) else {
                throw DownloadError(
                    .conflict, ErrorPhrase(.repairInTheWay, "\(paths.part)"), suggestion: ErrorPhrase(.finishOther),
                    recovery: .needsUser)
            }
            return paths
        }
        let part: PartFile
        do throws(PartFileError) { part = try PartFile.create(at: paths.part, fileSystem: fileSystem) } catch {
            throw DownloadError(error)
        }
        do throws(DownloadError) {
            let intact = try copy(file, to: part, total, damaged, fileSystem: fileSystem)
            var journal = JournalRecord(
                id: id.rawValue, urls: record.urls, name: name, totalBytes: total,
                identity: FileIdentity(etag: record.etag, lastModified: record.lastModified, totalBytes: total),
                checksum: record.checksum?.description, claimed: intact.pairs, partDevice: part.device,
                partInode: part.inode, createdAt: now.timeIntervalSince1970)
            journal.partCreated = part.created?.pair
            journal.isNameRequested = true
            journal.weakestJoin = record.proof == .digest ? nil : record.proof
            do throws(JournalError) {
                try Journal.create(at: paths.journal, record: journal, fileSystem: fileSystem, syncs: true).close()
            } catch { throw DownloadError(error) }
        } catch {
            part.close()
            remove(paths, fileSystem)
            throw error
        }
        part.close()
        return paths
    }

    /// Copies the intact bytes, synced and compared, and returns their ranges.
    private static func copy(
        _ path: FilePath, to part: PartFile, _ total: ByteCount, _ damaged: RangeSet<ByteCount>,
        fileSystem: any FileSystem
    ) throws(DownloadError) -> RangeSet<ByteCount> {
        do throws(FileError) {
            let file = try fileSystem.openOurs(path, .readOnly, for: .content)
            defer { file.close() }
            var intact = RangeSet(0..<min(total, try file.status().length))
            intact.subtract(damaged)
            _ = try part.preallocate(total: total)
            let copying = FileCopy(from: file, to: part.file) { true }
            guard try copying.copy(Array(intact.ranges)) == .copied else {
                throw FileError(.read, path, kind: .endedEarly)
            }
            return intact
        } catch { throw DownloadError(error) }
    }

    /// Whether the journal belongs to an interrupted repair of this file, and not to another download.
    private static func isRepair(_ journal: JournalRecord, of record: FileRecord) -> Bool {
        journal.totalBytes == record.totalBytes && journal.checksum == record.checksum?.description
            && journal.identity.etag == record.etag && journal.urls == record.urls
    }

    private static func remove(_ paths: DownloadPaths, _ fileSystem: any FileSystem) {
        // allow(ours): created above.
        try? fileSystem.removeIfPresent(paths.part)
    }
}
