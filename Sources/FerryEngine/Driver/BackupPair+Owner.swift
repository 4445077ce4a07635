import FerryCore

/// Ownership of the backup pair: its journal must belong to this user and name the download.
extension BackupPair {
    /// Identifies the downloads that a backup may belong to.
    struct Owner {
        var ids: Set<String>
        var urls: Set<String>

        init(ids: Set<String>, urls: [String]) {
            self.ids = ids
            self.urls = Set(urls)
        }

        /// Creates the owner described by a journal record.
        init(_ record: JournalRecord) { self.init(ids: [record.id], urls: record.urls) }
    }

    /// Returns the record of the backup's journal, or `nil` when no intact journal of this user exists there.
    func record() throws(FileError) -> JournalRecord? {
        do throws(JournalError) { return try Journal.read(at: paths.oldJournal, fileSystem: fileSystem) } catch {
            // A transient read error does not show who the owner is, so it is thrown.
            if case .file(let failure) = error, error.flaw == nil { throw failure }
            return nil
        }
    }

    /// Returns the record of the backup's journal if it belongs to `owner`, otherwise `nil`.
    func record(of owner: Owner) throws(FileError) -> JournalRecord? {
        guard let record = try record(),
            owner.ids.contains(record.id) || record.urls.contains(where: owner.urls.contains)
        else { return nil }
        return record
    }

    /// Returns whether ``move()`` would replace nothing, or only a backup that belongs to `owner`.
    func isFree(for owner: Owner) throws(FileError) -> Bool {
        guard try isPresent() else { return true }
        return try record(of: owner) != nil
    }

    /// Removes the backup if its journal belongs to `owner`; other files stay.
    func remove(of owner: Owner) throws(FileError) {
        if try record(of: owner) != nil { try remove() }
    }

    /// Removes the remaining files of a published download: first the backup, then the journal, through which a run after a crash
    /// finds both. If the backup cannot be removed, the journal stays for the next run. Returns whether the journal was removed.
    func removeRest(_ journal: Journal, of owner: Owner, syncs: Bool) -> Bool {
        do throws(FileError) { try remove(of: owner) } catch {
            journal.close()
            return false
        }
        try? journal.remove(syncs: syncs)
        return true
    }

    /// Restores the backup after a crash that left it without a new part file. Returns whether the backup was restored.
    func restore() throws(FileError) -> Bool {
        guard try isPresent() else { return false }
        let young = try? Journal.read(at: paths.journal, fileSystem: fileSystem)
        if young == nil {
            guard try record() != nil else { return false }
        }
        return try moveBack(beside: young?.partInode)
    }
}
