/// Tracks which entries of the lists have ended. Its size does not grow with the lists.
///
/// Invariants:
/// - Every entry up to ``last`` has been taken; all of these except those in ``open`` have ended.
/// - An entry after ``last`` has been taken only if it is in ``ended``: it was taken and ended in a run that was killed.
///
/// Entries are taken in the order of the lists. An entry that has not ended is either submitted or set aside for its
/// host, so the window and ``HostBacklog/mostItems`` bound ``open``. The lines between two checkpoints bound ``ended``.
package struct BatchCursor: Sendable, Hashable {
    /// The last entry that has been taken; `nil` before the first.
    package private(set) var last: ListPlace?
    /// The entries that have been taken and have not ended.
    package private(set) var open: [ListPlace.Key: ListPlace] = [:]
    var openCount: Int { open.count }
    /// Entries after ``last`` that have ended.
    package private(set) var ended: Set<ListPlace.Key> = []
    package private(set) var counts = Counts()

    /// The ended entries of the lists, in all runs.
    package struct Counts: Sendable, Hashable {
        package var completed = 0
        package var failed = 0
        /// The number of entries that are not valid requests.
        package var unusable = 0
        package var codes: Set<ExitCode> = []
    }

    package init() {}

    /// Creates the cursor of a checkpoint.
    init(last: ListPlace?, open: [ListPlace], ended: [ListPlace.Key], counts: Counts) {
        (self.last, self.ended, self.counts) = (last, Set(ended), counts)
        for place in open { self.open[place.key] = place }
    }

    /// Records that an entry was taken. Returns whether ``last`` has thereby passed all entries in ``ended``.
    ///
    /// An entry up to ``last`` is taken again if it was open when an earlier run was killed.
    package mutating func take(_ place: ListPlace) -> Bool {
        open[place.key] = place
        guard last.map({ $0.key < place.key }) ?? true else { return false }
        last = place
        guard !ended.isEmpty else { return false }
        ended = ended.filter { $0 > place.key }
        return ended.isEmpty
    }

    /// How an entry ended.
    package enum Outcome: Sendable, Hashable {
        case completed
        case failed(ExitCode)
        /// The entry is not a valid request.
        case unusable
        case duplicate
    }

    /// Records the end of an entry. The key is `nil` for a URL from the command line, which belongs to no list: it is
    /// not recorded, and every run requests it again.
    package mutating func end(_ key: ListPlace.Key?, _ outcome: Outcome) {
        guard let key else { return }
        switch outcome {
        case .completed: counts.completed += 1
        case .failed(let code):
            counts.failed += 1
            counts.codes.insert(code)
        case .unusable:
            counts.unusable += 1
            counts.codes.insert(.usage)
        case .duplicate: break
        }
        guard open.removeValue(forKey: key) == nil, last.map({ $0.key < key }) ?? true else { return }
        ended.insert(key)
    }

    /// Whether an entry must be requested.
    package func isWanted(_ key: ListPlace.Key) -> Bool {
        guard let last, key <= last.key else { return !ended.contains(key) }
        return open[key] != nil
    }
}
