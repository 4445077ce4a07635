package import FerryCore
package import Ferry
import Synchronization

/// A network monitor under a test's control.
///
///     let network = ManualNetworkMonitor()
///     network.set(online: false)      // same generation
///     network.set(online: true)       // new generation: the path has changed
package final class ManualNetworkMonitor: NetworkMonitor {
    private let hub: SnapshotHub
    private let state = Mutex(State())
    private struct State {
        var names: Set<String> = []
        var isStarted = false
    }

    /// By default online, neither metered nor constrained.
    package init(_ status: NetworkStatus = .online) {
        hub = SnapshotHub(NetworkSnapshot(status: status))
    }

    package var current: NetworkSnapshot { hub.current }
    package func changes() -> AsyncStream<NetworkSnapshot> { hub.changes() }

    /// Whether the monitor is between ``start()`` and ``stop()``.
    package var isStarted: Bool { state.withLock { $0.isStarted } }
    package func start() async { state.withLock { $0.isStarted = true } }
    package func stop() async {
        state.withLock { $0.isStarted = false }
        hub.finish()
    }

    package func isLocal(_ host: String) async -> Bool {
        current.isLocal(host) || (!current.status.isOnline && state.withLock { $0.names.contains(host) })
    }

    /// Applies the user's settings, which take precedence over the test's values.
    package func set(_ settings: NetworkSettings) {
        hub.update { snapshot in
            if let isMetered = settings.isMetered { snapshot.status.isMetered = isMetered }
            if let isConstrained = settings.isConstrained { snapshot.status.isConstrained = isConstrained }
        }
    }

    /// Changes the given values. Coming online starts a new generation, as on a real network.
    package func set(online: Bool? = nil, metered: Bool? = nil, constrained: Bool? = nil) {
        hub.update { snapshot in
            if online == true, !snapshot.status.isOnline { snapshot.generation += 1 }
            if let online { snapshot.status.isOnline = online }
            if let metered { snapshot.status.isMetered = metered }
            if let constrained { snapshot.status.isConstrained = constrained }
        }
    }

    /// Changes only the generation, as if connections used another path.
    package func movePath() { hub.update { $0.generation += 1 } }

    /// Attaches a network such as `192.0.2.0/24`; an invalid prefix is ignored.
    package func attach(_ prefix: String, interface: String = "eth0") {
        guard let prefix = NetworkPrefix(prefix) else { return }
        hub.update { snapshot in
            if !snapshot.interfaces.contains(where: { $0.name == interface }) {
                snapshot.interfaces.append(NetworkInterface(name: interface))
            }
            snapshot.routes.append(NetworkRoute(prefix, interface: interface))
        }
    }

    /// Sets the names that resolve to local addresses while offline.
    package func setLocalNames(_ names: Set<String>) { state.withLock { $0.names = names } }
}
