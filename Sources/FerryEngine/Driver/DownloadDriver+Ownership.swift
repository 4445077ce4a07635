import FerryCore
import SystemPackage

/// Whose part files are whose, and which file may be replaced.
extension DownloadDriver {
    /// The pair that an earlier run of this download left, when it is still there.
    func pathsOfLastRun() -> DownloadPaths? {
        guard let path = context.partPath, let paths = DownloadPaths(of: absolute(path)) else { return nil }
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: environment.fileSystem)
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
        guard let file = context.replaces, file.isUnchanged(fileSystem: environment.fileSystem) else { return nil }
        return FilePath(file.path)
    }

    /// Whether what this id names is another download's.
    func isAnothers(_ id: String) -> Bool { id != self.id.rawValue && context.belongsToAnother?(id) == true }

    /// Whether the download that is under way there is not the one asked for: then it takes the next name.
    func isOfAnotherRequest(_ paths: DownloadPaths) -> Bool {
        guard let other = try? Journal.read(at: paths.journal, fileSystem: environment.fileSystem) else { return false }
        if isAnothers(other.id) { return true }
        guard request.onConflict == .rename, let source = request.sources.first else { return false }
        return !other.urls.contains(source.text)
    }
}
