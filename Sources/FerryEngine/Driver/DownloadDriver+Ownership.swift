import FerryCore
import Synchronization
import SystemPackage

/// Ownership of part files, and the file that may be replaced.
extension DownloadDriver {
    /// Returns the paths of the part file that this download's earlier run left, if it still exists.
    func pathsOfLastRun() -> DownloadPaths? {
        guard let path = context.partPath, let paths = DownloadPaths(of: absolute(path)) else { return nil }
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: fileSystem)
            if record.id == id.rawValue { return paths }
            report(.event(.note(Reason(.belongsToAnother, "\(paths.part)"))))
        } catch .missing {
            // A file that was kept in memory has no journal.
        } catch {
            report(.event(.note(.phrase(error.phrase))))
        }
        return nil
    }

    /// The file that an earlier run of this download published, if it is unchanged.
    var earlierFile: FilePath? {
        guard let file = context.replaces, file.isUnchanged(fileSystem: fileSystem) else { return nil }
        return FilePath(file.path)
    }

    /// Returns whether a journal's statements beyond its claims (a published file, a move in progress) may be
    /// trusted: the download was requested by one of its URLs or is listed under its id. Otherwise a prepared
    /// directory could make Ferry treat the user's other files as its own.
    func isAskedFor(_ record: JournalRecord) -> Bool {
        record.id == id.rawValue || request.sources.contains { record.urls.contains($0.text) }
    }

    /// Returns the downloads that may own the backup which this download replaces.
    func asideOwner(_ record: JournalRecord? = nil) -> BackupPair.Owner {
        state.withLock { state in
            let records = [record, state.record].compactMap(\.self)
            return BackupPair.Owner(
                ids: Set([id.rawValue, state.asideID].compactMap(\.self) + records.map(\.id)),
                urls: state.sources.map(\.text) + records.flatMap(\.urls))
        }
    }

    /// Returns the error for a name that is taken and has no alternative, with the ownership flaw of a foreign file.
    func blocked(by path: FilePath) -> DownloadError {
        if let flaw = try? fileSystem.flaw(at: path), flaw != .notRegular {
            return DownloadError(FileError(.create, path, kind: .notOurs(flaw)))
        }
        return DownloadError(.conflict, ErrorPhrase(.inTheWay, "\(path)"), recovery: .needsUser)
    }

    /// Returns whether the id belongs to another download of the list.
    func isAnothers(_ id: String) -> Bool { id != self.id.rawValue && context.belongsToAnother?(id) == true }

    /// Returns whether the download in progress at `paths` is not the requested one, so that the next free name is
    /// taken.
    func isOfAnotherRequest(_ paths: DownloadPaths) -> Bool {
        guard let other = try? Journal.read(at: paths.journal, fileSystem: fileSystem) else { return false }
        if isAnothers(other.id) { return true }
        guard request.onConflict == .rename, let source = request.sources.first else { return false }
        return !other.urls.contains(source.text)
    }
}
