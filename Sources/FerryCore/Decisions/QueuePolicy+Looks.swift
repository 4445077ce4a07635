extension QueuePolicy {
    /// Whether it is queued, running ones included.
    package func contains(_ id: DownloadID) -> Bool { entries[id] != nil }

    /// Everything that is queued, in no order.
    package var ids: some Collection<DownloadID> { entries.keys }

    /// Whether one waits that would run if it had a slot.
    package var hasReady: Bool {
        mutating get {
            for lane in lanes.indices where mayStart(heap: lane) {
                if lanes[lane].first(in: entries) != nil { return true }
            }
            return false
        }
    }

    /// The group of a queued download; `nil` when it is not queued.
    package func group(of id: DownloadID) -> Int? { entries[id].map { Int($0.group) } }
}
