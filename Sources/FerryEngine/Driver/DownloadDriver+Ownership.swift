import FerryCore
import Synchronization
import SystemPackage

/// Whose part files are whose, and which file may be replaced.
extension DownloadDriver {
    /// The pair that an earlier run of this download left, when it is still there.
    func pathsOfLastRun() -> DownloadPaths? {
        guard let path = context.partPath, let paths = DownloadPaths(of: absolute(path)) else { return nil }
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: fileSystem)
            if record.id == id.rawValue { return paths }
            report(.event(.note(Reason(.belongsToAnother, "\(paths.part)"))))
        } catch .missing {
            // A file that was in memory only has none.
        } catch {
            report(.event(.note(.phrase(error.phrase))))
        }
        return nil
    }

    /// The file that an earlier run of this download published, while it is there unchanged.
    var earlierFile: FilePath? {
        guard let file = context.replaces, file.isUnchanged(fileSystem: fileSystem) else { return nil }
        return FilePath(file.path)
    }

    /// Whether what a journal announces counts, beyond the bytes that it claims: that its file is published, that its pair is
    /// being moved. Only where the download was asked for by a URL in it, or is listed under its id: else a directory that
    /// somebody made for us could have files of ours taken for it.
    func isAskedFor(_ record: JournalRecord) -> Bool {
        record.id == id.rawValue || request.sources.contains { record.urls.contains($0.text) }
    }

    /// Of which downloads an earlier generation that lies aside is this one's.
    func asideOwner(_ record: JournalRecord? = nil) -> BackupPair.Owner {
        state.withLock { state in
            let records = [record, state.record].compactMap(\.self)
            return BackupPair.Owner(
                ids: Set([id.rawValue, state.asideID].compactMap(\.self) + records.map(\.id)),
                urls: state.sources.map(\.text) + records.flatMap(\.urls))
        }
    }

    /// What is in the way of a name for which there is no other, and whose it is when it is not ours.
    func blocked(by path: FilePath) -> DownloadError {
        if let flaw = try? fileSystem.flaw(at: path), flaw != .notRegular {
            return DownloadError(FileError(.create, path, kind: .notOurs(flaw)))
        }
        return DownloadError(.conflict, ErrorPhrase(.inTheWay, "\(path)"), recovery: .needsUser)
    }

    /// Whether what this id names is another download's.
    func isAnothers(_ id: String) -> Bool { id != self.id.rawValue && context.belongsToAnother?(id) == true }

    /// Whether the download that is under way there is not the one asked for: then it takes the next name.
    func isOfAnotherRequest(_ paths: DownloadPaths) -> Bool {
        guard let other = try? Journal.read(at: paths.journal, fileSystem: fileSystem) else { return false }
        if isAnothers(other.id) { return true }
        guard request.onConflict == .rename, let source = request.sources.first else { return false }
        return !other.urls.contains(source.text)
    }
}
