import FerryCore

/// Whose the pair is that lies aside: the journal there must say it, and be ours.
extension BackupPair {
    /// The downloads whose earlier generation may lie aside.
    struct Owner {
        var ids: Set<String>
        var urls: Set<String>

        init(ids: Set<String>, urls: [String]) {
            self.ids = ids
            self.urls = Set(urls)
        }

        /// The download of a journal.
        init(_ record: JournalRecord) { self.init(ids: [record.id], urls: record.urls) }
    }

    /// What the journal that lies aside says; `nil` when there is none that is whole and ours.
    func record() throws(FileError) -> JournalRecord? {
        do throws(JournalError) { return try Journal.read(at: paths.oldJournal, fileSystem: fileSystem) } catch {
            // What the disk does not give just now says nothing about whose it is.
            if case .file(let failure) = error, error.flaw == nil { throw failure }
            return nil
        }
    }

    /// The same, when it is of this download.
    func record(of owner: Owner) throws(FileError) -> JournalRecord? {
        guard let record = try record(),
            owner.ids.contains(record.id) || record.urls.contains(where: owner.urls.contains)
        else { return nil }
        return record
    }

    /// Whether ``move()`` would replace nothing, or only what this download has put there.
    func isFree(for owner: Owner) throws(FileError) -> Bool {
        guard try isPresent() else { return true }
        return try record(of: owner) != nil
    }

    /// Removes what is aside when this download has put it there; what has no such journal beside it stays.
    func remove(of owner: Owner) throws(FileError) {
        if try record(of: owner) != nil { try remove() }
    }
}
