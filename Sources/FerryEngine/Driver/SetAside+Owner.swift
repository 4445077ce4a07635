import FerryCore

/// Whose the pair is that lies aside: the journal there must say it, and be ours.
extension SetAside {
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

    /// What the journal that lies aside says, when it is of this download; `nil` for everything else.
    func record(of owner: Owner) -> JournalRecord? {
        guard let record = try? Journal.read(at: paths.oldJournal, fileSystem: fileSystem),
            owner.ids.contains(record.id) || record.urls.contains(where: owner.urls.contains)
        else { return nil }
        return record
    }

    /// Whether ``move()`` would replace nothing, or only what this download has put there.
    func isFree(for owner: Owner) throws(FileError) -> Bool {
        guard try isPresent() else { return true }
        return record(of: owner) != nil
    }

    /// Removes what is aside when this download has put it there; what has no such journal beside it stays.
    func remove(of owner: Owner) throws(FileError) {
        if record(of: owner) != nil { try remove() }
    }
}
