extension QueuePolicy {
    /// Whether the download is queued or running.
    package func contains(_ id: DownloadID) -> Bool { entries[id] != nil }

    /// The identifiers of all queued downloads, unordered.
    package var ids: some Collection<DownloadID> { entries.keys }

    /// Whether a download is waiting for nothing but a slot.
    package var hasReady: Bool {
        mutating get {
            for lane in lanes.indices where mayStart(heap: lane) {
                if lanes[lane].first(in: entries) != nil { return true }
            }
            return false
        }
    }

    /// Returns the group of a download; `nil` when it is not queued.
    package func group(of id: DownloadID) -> Int? { entries[id].map { Int($0.group) } }
}
