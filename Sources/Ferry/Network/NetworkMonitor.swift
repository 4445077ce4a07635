/// Provides the network's state and its changes.
///
/// Monitoring begins with ``start()``; before that, ``current`` is ``NetworkSnapshot/assumed``.
package protocol NetworkMonitor: AnyObject, Sendable {
    /// The newest snapshot.
    var current: NetworkSnapshot { get }

    /// The newest snapshot and every later one that differs from its predecessor; a slow reader gets only the newest.
    /// The stream ends with ``stop()``.
    func changes() -> AsyncStream<NetworkSnapshot>

    /// Changes the user's overrides, which take effect at once.
    func set(_ settings: NetworkSettings)

    /// Begins monitoring; returns once ``current`` reflects the system's state. Has no effect if monitoring has already begun.
    func start() async

    /// Ends monitoring and all streams; returns once its threads, sockets and child processes are gone.
    func stop() async

    /// Whether a host, in the form of `DownloadURL.host`, is reachable without the default route: see
    /// ``NetworkSnapshot/isLocal(_:)``. Names are resolved only while offline, off the cooperative thread pool. May take a long
    /// time; returns false at once if the task is cancelled.
    func isLocal(_ host: String) async -> Bool
}

/// The user's overrides of the detected network properties; `nil` means detected.
package struct NetworkSettings: Sendable, Hashable {
    /// Whether the network is metered.
    package var isMetered: Bool?
    /// Whether the network is constrained.
    package var isConstrained: Bool?

    package init(isMetered: Bool? = nil, isConstrained: Bool? = nil) {
        self.isMetered = isMetered
        self.isConstrained = isConstrained
    }
}
