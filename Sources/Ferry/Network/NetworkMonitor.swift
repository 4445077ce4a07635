/// Knows the network and says when it changes.
///
/// Nothing is watched before ``start()``; what is known then is ``NetworkSnapshot/assumed``.
package protocol NetworkMonitor: AnyObject, Sendable {
    /// The newest snapshot, at once.
    var current: NetworkSnapshot { get }

    /// The newest snapshot now, and then each that differs from the one before; who is slow sees only the newest.
    /// The stream ends with ``stop()``.
    func changes() -> AsyncStream<NetworkSnapshot>

    /// Changes what the user says about the network, at once.
    func set(_ settings: NetworkSettings)

    /// Looks at the network and watches it from now on; returns when ``current`` is what the system says. Does
    /// nothing when it watches already.
    func start() async

    /// Ends the watch and every stream, and returns when threads, sockets and child processes of it are gone.
    func stop() async

    /// Whether a host, written as in `DownloadURL.host`, is reached without the way to the outside: see
    /// ``NetworkSnapshot/isLocal(_:)``. Names are looked up, away from Swift's threads, only while offline.
    /// That may take long; false at once when the task is cancelled.
    func isLocal(_ host: String) async -> Bool
}
