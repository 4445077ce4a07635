import FerryCore

/// Path information in journals.
extension DownloadPaths {
    /// Returns the paths with the whole final name, which the journal contains if the part file's name is shortened.
    func withWholeName(_ fileSystem: any FileSystem) -> DownloadPaths {
        guard isShortened,
            let record = try? Journal.read(at: journal, fileSystem: fileSystem),
            let whole = DownloadPaths(directory: directory, name: record.name), whole.part == part
        else { return self }
        return whole
    }

    /// Returns whether there is a journal, at its own path or in the backup.
    func hasJournal(_ fileSystem: any FileSystem) throws(DownloadError) -> Bool {
        do throws(FileError) {
            if try fileSystem.exists(journal) { return true }
            return try fileSystem.exists(oldJournal)
        } catch { throw DownloadError(error) }
    }
}
