public import FerryCore

/// What changed in the list of downloads since a listener looked last; several changes become one.
public struct ListChange: Sendable, Hashable {
    /// Downloads that are on the list now and were not.
    public var added: Set<DownloadID> = []
    /// Downloads that are not on the list any more.
    public var removed: Set<DownloadID> = []
    /// Downloads whose state, name or priority changed.
    public var changed: Set<DownloadID> = []
    /// The order may differ.
    public var isReordered = false

    public init() {}

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && !isReordered }

    /// Adds a later change to this one.
    mutating func merge(_ later: ListChange) {
        for id in later.removed {
            if added.remove(id) == nil { removed.insert(id) }
            changed.remove(id)
        }
        for id in later.added {
            if removed.remove(id) == nil {
                added.insert(id)
            } else {
                // It was there and is again, as another one at another place.
                changed.insert(id)
                isReordered = true
            }
        }
        changed.formUnion(later.changed.subtracting(added).subtracting(removed))
        isReordered = isReordered || later.isReordered
    }
}
