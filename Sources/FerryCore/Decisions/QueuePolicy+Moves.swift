extension QueuePolicy {
    /// Moves a listed download, queued or not, within its priority. Running downloads are not stopped.
    ///
    /// - Parameters:
    ///   - moved: the download and its present key.
    ///   - listed: all listed downloads, queued or not, or all of that priority, ascending by key.
    /// - Returns: the changed keys, to be stored: empty if the download is already there, else its own and those of
    ///   renumbered neighbours.
    package mutating func move(
        _ moved: QueuePlace, to placement: PlacementPlanner.Placement,
        among listed: some RandomAccessCollection<QueuePlace>
    ) -> [QueuePlace] {
        let changed = PlacementPlanner.place(moved, placement, among: listed)
        for place in changed { set(key: place.key, of: place.id) }
        return changed
    }

    /// Moves a download between known neighbours. Returns `nil` and changes nothing if neighbours have to be
    /// renumbered.
    package mutating func move(_ moved: QueuePlace, into gap: QueueGap) -> [QueuePlace]? {
        guard let changed = PlacementPlanner.place(moved, in: gap) else { return nil }
        for place in changed { set(key: place.key, of: place.id) }
        return changed
    }
}
