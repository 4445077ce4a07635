import FerryCore

@testable import Ferry

/// The facts of the queue as calls, for these tests.
extension QueueMachine {
    @discardableResult
    mutating func join(
        _ id: DownloadID, priority: DownloadPriority = .normal, needs: NetworkNeeds = NetworkNeeds(),
        notBefore: Duration? = nil, session: String = ""
    ) -> QueueKey {
        let key = takeKey(priority)
        enter(
            id, key: key, rule: needs.rule, host: needs.host, session: session,
            as: notBefore.map { .waiting(until: $0) } ?? .queued)
        return key
    }

    /// Paused or cancelled.
    mutating func leave(_ id: DownloadID) { take(.rest(.parked), of: id) }

    /// The run has ended, the download has not.
    mutating func stopped(_ id: DownloadID) { take(.ended, of: id) }

    /// Completed, or failed permanently.
    mutating func ended(_ id: DownloadID) {
        take(.rest(.parked), of: id)
        take(.ended, of: id)
    }

    /// Moves a listed download; returns the changed keys.
    mutating func move(
        _ moved: QueuePlace, to placement: PlacementPlanner.Placement, among listed: [QueuePlace]
    ) -> [QueuePlace] {
        let changed = PlacementPlanner.place(moved, placement, among: listed)
        for place in changed { set(key: place.key, of: place.id) }
        return changed
    }

    mutating func set(network: NetworkStatus) { see(NetworkSnapshot(status: network)) }

    mutating func setNeeds(_ needs: NetworkNeeds, of id: DownloadID) { set(needs.rule, host: needs.host, of: id) }

    mutating func set(limit: Int?, of session: String) {
        var settings = SessionSettings()
        settings.maxConcurrentDownloads = limit
        set(settings, of: session)
    }

    func isRunning(_ id: DownloadID) -> Bool { entries[id]?.state.isRunning ?? false }
}

extension NetworkNeeds {
    var rule: NetworkRule {
        NetworkRule(allowsMetered: allowsMetered ? nil : false, allowsConstrained: allowsConstrained ? nil : false)
    }
    var host: String? { isLocal ? "127.0.0.1" : nil }
}
