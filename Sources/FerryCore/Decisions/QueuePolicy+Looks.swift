extension QueuePolicy {
    /// Whether it is queued, running ones included.
    package func contains(_ id: DownloadID) -> Bool { entries[id] != nil }

    /// Everything that is queued, in no order.
    package var ids: some Collection<DownloadID> { entries.keys }

    /// Whether one waits that would run if it had a slot.
    package var hasReady: Bool {
        mutating get {
            for lane in lanes.indices where network.permits(NetworkNeeds(lane: lane)) {
                if lanes[lane].first(in: entries) != nil { return true }
            }
            return false
        }
    }
}
