import Ferry
import FerryCore

/// A network that is always online. It is metered or constrained if the manager's configuration says so.
final class ScriptedNetwork: NetworkMonitor {
    private let hub: SnapshotHub

    init(_ settings: NetworkSettings) {
        hub = SnapshotHub(NetworkSnapshot(status: .online))
        set(settings)
    }

    var current: NetworkSnapshot { hub.current }
    func changes() -> AsyncStream<NetworkSnapshot> { hub.changes() }

    func set(_ settings: NetworkSettings) {
        hub.update {
            $0.status.isMetered = settings.isMetered ?? false
            $0.status.isConstrained = settings.isConstrained ?? false
        }
    }

    func start() async {}
    func stop() async { hub.finish() }
    func isLocal(_ host: String) async -> Bool { current.isLocal(host) }
}
