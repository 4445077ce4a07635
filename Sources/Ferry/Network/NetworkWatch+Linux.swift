#if os(Linux)
    import Synchronization

    /// Monitors the kernel's network state and NetworkManager on a thread of its own, which sleeps between events.
    final class NetworkWatch: Sendable {
        /// Opens with the first snapshot.
        let ready = Latch()
        /// Opens when thread, sockets and child processes are gone.
        let ended = Latch()

        private struct State {
            var settings: NetworkSettings
            var isEnding = false
        }
        private let state: Mutex<State>
        /// `nil` if the process has no descriptors left.
        private let updates = try? WakePipe()

        /// Begins monitoring at once; without sockets, the network counts as online.
        init(hub: SnapshotHub, settings: NetworkSettings, tools: NetworkManagerTools, sockets: NetlinkSockets?) {
            state = Mutex(State(settings: settings))
            onOwnThread("ferry-network", stackSize: 512 << 10) { [self] in
                var loop = NetworkLoop(watch: self, hub: hub, tools: tools, sockets: sockets, updates: updates)
                loop.run()
                ended.open()
            }
        }

        /// Requests the end of the thread; ``ended`` opens when the thread has ended.
        func end() {
            state.withLock { $0.isEnding = true }
            updates?.wake()
        }

        func set(_ settings: NetworkSettings) {
            state.withLock { $0.settings = settings }
            updates?.wake()
        }

        var settings: NetworkSettings { state.withLock { $0.settings } }
        var isEnding: Bool { state.withLock { $0.isEnding } }
    }
#endif
