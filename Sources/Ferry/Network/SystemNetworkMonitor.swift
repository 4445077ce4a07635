import FerryCore
import Synchronization

/// The network as reported by the operating system.
///
///     start ─► watch (own thread or queue) ─► table, NetworkManager's value ─► NetworkVerdict ─► hub ─► listeners
///
/// Event-driven; does not poll.
package final class SystemNetworkMonitor: NetworkMonitor {
    private struct State {
        var settings: NetworkSettings
        var watch: NetworkWatch?
    }
    private let state: Mutex<State>
    private let hub = SnapshotHub()
    private let names: LocalNames
    private let makeWatch: @Sendable (SnapshotHub, NetworkSettings) -> NetworkWatch

    /// `makeWatch` creates and starts the watch; `lookUp` resolves a name.
    init(
        _ settings: NetworkSettings, lookUp: @escaping LocalNames.Lookup = LocalNames.system,
        makeWatch: @escaping @Sendable (SnapshotHub, NetworkSettings) -> NetworkWatch
    ) {
        state = Mutex(State(settings: settings))
        names = LocalNames(lookUp)
        self.makeWatch = makeWatch
    }

    deinit { state.withLock { $0.watch }?.end() }

    package var current: NetworkSnapshot { hub.current }
    package func changes() -> AsyncStream<NetworkSnapshot> { hub.changes() }

    package func start() async {
        let watch = state.withLock { state in
            let watch = state.watch ?? makeWatch(hub, state.settings)
            state.watch = watch
            return watch
        }
        await watch.ready.wait()
    }

    package func stop() async {
        let watch = state.withLock { state in
            defer { state.watch = nil }
            return state.watch
        }
        watch?.end()
        await watch?.ended.wait()
        hub.finish()
    }

    /// Changes the user's overrides, which take effect at once.
    package func set(_ settings: NetworkSettings) {
        state.withLock { state in
            state.settings = settings
            state.watch?.set(settings)
        }
    }

    package func isLocal(_ host: String) async -> Bool {
        let snapshot = current
        if snapshot.isLocal(host) { return true }
        // While online, the location of a name makes no difference.
        guard !snapshot.status.isOnline, NetworkAddress(host) == nil else { return false }
        return await names.isLocal(host, in: snapshot)
    }
}
