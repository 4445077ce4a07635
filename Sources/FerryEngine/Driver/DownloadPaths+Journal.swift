import FerryCore

/// What journals say about paths.
extension DownloadPaths {
    /// Returns the paths with the whole final name, which the journal has if the part file's name is shortened.
    func withWholeName(_ fileSystem: any FileSystem) -> DownloadPaths {
        guard isShortened,
            let record = try? Journal.read(at: journal, fileSystem: fileSystem),
            let whole = DownloadPaths(directory: directory, name: record.name), whole.part == part
        else { return self }
        return whole
    }

    /// Returns whether there is a journal, if only in the backup.
    func hasJournal(_ fileSystem: any FileSystem) throws(DownloadError) -> Bool {
        do throws(FileError) {
            if try fileSystem.exists(journal) { return true }
            return try fileSystem.exists(oldJournal)
        } catch { throw DownloadError(error) }
    }
}
