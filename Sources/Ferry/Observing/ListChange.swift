public import FerryCore

/// Changes of the download list since a listener's last read; several changes are merged.
public struct ListChange: Sendable, Hashable {
    /// Downloads that were added to the list.
    public var added: Set<DownloadID> = []
    /// Downloads that were removed from the list.
    public var removed: Set<DownloadID> = []
    /// Downloads whose state, name or priority changed.
    public var changed: Set<DownloadID> = []
    /// Whether the order may differ.
    public var isReordered = false

    /// Creates an empty change.
    package init() {}

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && !isReordered }

    /// Merges a later change into this one.
    mutating func merge(_ later: ListChange) {
        for id in later.removed {
            if added.remove(id) == nil { removed.insert(id) }
            changed.remove(id)
        }
        for id in later.added {
            if removed.remove(id) == nil {
                added.insert(id)
            } else {
                // Removed and added again: another download, at another position.
                changed.insert(id)
                isReordered = true
            }
        }
        changed.formUnion(later.changed.subtracting(added).subtracting(removed))
        isReordered = isReordered || later.isReordered
    }
}
