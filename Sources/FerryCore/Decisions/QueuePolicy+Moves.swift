extension QueuePolicy {
    /// Moves one within its priority, whether it is queued or only listed; nobody who runs is stopped for it.
    ///
    /// - Parameters:
    ///   - moved: the one to move and the key that it has.
    ///   - listed: everything that is listed, queued or not, or everything of that priority, ascending by key.
    /// - Returns: the new keys, to be stored: none when it is there already, else its own and those of others that had to
    ///   make room.
    package mutating func move(
        _ moved: QueuePlace, to placement: PlacementPlanner.Placement,
        among listed: some RandomAccessCollection<QueuePlace>
    ) -> [QueuePlace] {
        let changed = PlacementPlanner.place(moved, placement, among: listed)
        for place in changed { set(key: place.key, of: place.id) }
        return changed
    }

    /// The same where its neighbours are known. `nil`, and nothing is changed, when others had to make room.
    package mutating func move(_ moved: QueuePlace, into gap: QueueGap) -> [QueuePlace]? {
        guard let changed = PlacementPlanner.place(moved, in: gap) else { return nil }
        for place in changed { set(key: place.key, of: place.id) }
        return changed
    }
}
