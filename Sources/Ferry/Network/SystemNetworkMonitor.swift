import FerryCore
import Synchronization

/// The network as this machine's system knows it.
///
///     start ─► watch (a thread or queue of its own) ─► table, NetworkManager's word ─► NetworkVerdict ─► hub ─► listeners
///
/// It never asks again and again: while nothing happens, nothing runs.
package final class SystemNetworkMonitor: NetworkMonitor {
    private struct State {
        var settings: NetworkSettings
        var watch: NetworkWatch?
    }
    private let state: Mutex<State>
    private let hub = SnapshotHub()
    private let names: LocalNames
    private let makeWatch: @Sendable (SnapshotHub, NetworkSettings) -> NetworkWatch

    /// `makeWatch` starts to watch; `lookUp` gives the addresses of a name.
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

    /// Changes what the user says about the network, at once.
    package func set(_ settings: NetworkSettings) {
        state.withLock { state in
            state.settings = settings
            state.watch?.set(settings)
        }
    }

    package func isLocal(_ host: String) async -> Bool {
        let snapshot = current
        if snapshot.isLocal(host) { return true }
        // While there is a way to the outside, a name is as likely there, and nothing depends on it.
        guard !snapshot.status.isOnline, NetworkAddress(host) == nil else { return false }
        return await names.isLocal(host, in: snapshot)
    }
}
