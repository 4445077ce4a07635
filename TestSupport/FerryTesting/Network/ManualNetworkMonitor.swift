package import FerryCore
package import Ferry
import Synchronization

/// A network that does what a test says.
///
///     let network = ManualNetworkMonitor()
///     network.set(online: false)      // generation stays
///     network.set(online: true)       // generation counts up: the path is another one
package final class ManualNetworkMonitor: NetworkMonitor {
    private let hub: SnapshotHub
    private let state = Mutex(State())
    private struct State {
        var names: Set<String> = []
        var isStarted = false
    }

    /// Online, neither metered nor constrained, unless said otherwise.
    package init(_ status: NetworkStatus = .online) {
        hub = SnapshotHub(NetworkSnapshot(status: status))
    }

    package var current: NetworkSnapshot { hub.current }
    package func changes() -> AsyncStream<NetworkSnapshot> { hub.changes() }

    /// Between ``start()`` and ``stop()``.
    package var isStarted: Bool { state.withLock { $0.isStarted } }
    package func start() async { state.withLock { $0.isStarted = true } }
    package func stop() async {
        state.withLock { $0.isStarted = false }
        hub.finish()
    }

    package func isLocal(_ host: String) async -> Bool {
        current.isLocal(host) || (!current.status.isOnline && state.withLock { $0.names.contains(host) })
    }

    /// What the user says counts before what the test says.
    package func set(_ settings: NetworkSettings) {
        hub.update { snapshot in
            if let isMetered = settings.isMetered { snapshot.status.isMetered = isMetered }
            if let isConstrained = settings.isConstrained { snapshot.status.isConstrained = isConstrained }
        }
    }

    /// Changes what is named; online again means another generation, as with a real network.
    package func set(online: Bool? = nil, metered: Bool? = nil, constrained: Bool? = nil) {
        hub.update { snapshot in
            if online == true, !snapshot.status.isOnline { snapshot.generation += 1 }
            if let online { snapshot.status.isOnline = online }
            if let metered { snapshot.status.isMetered = metered }
            if let constrained { snapshot.status.isConstrained = constrained }
        }
    }

    /// The path that connections use has changed, and nothing else.
    package func movePath() { hub.update { $0.generation += 1 } }

    /// Attaches the machine to a network, given as in `192.0.2.0/24`; what makes no sense is ignored.
    package func attach(_ prefix: String, interface: String = "eth0") {
        guard let prefix = NetworkPrefix(prefix) else { return }
        hub.update { snapshot in
            if !snapshot.interfaces.contains(where: { $0.name == interface }) {
                snapshot.interfaces.append(NetworkInterface(name: interface))
            }
            snapshot.routes.append(NetworkRoute(prefix, interface: interface))
        }
    }

    /// While offline, these names are found to be local.
    package func setLocalNames(_ names: Set<String>) { state.withLock { $0.names = names } }
}
