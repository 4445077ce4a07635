#if os(Linux)
    import CFerry
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Watches the kernel's network and NetworkManager on a thread of its own, which sleeps between events.
    final class NetworkWatch: Sendable {
        /// Opens with the first snapshot.
        let ready = Latch()
        /// Opens when thread, sockets and child processes are gone.
        let ended = Latch()

        private struct State {
            var settings: NetworkSettings
            var isEnding = false
            /// The write end of the wake-up pipe; -1 once the thread has ended.
            var updates: Int32
        }
        private let state: Mutex<State>

        /// Begins watching at once; without sockets the network counts as online.
        init(hub: SnapshotHub, settings: NetworkSettings, tools: NetworkManagerTools, sockets: NetlinkSockets?) {
            var updates: [Int32] = [-1, -1]
            _ = ferry_pipe2(&updates, O_CLOEXEC | O_NONBLOCK)
            state = Mutex(State(settings: settings, updates: updates[1]))
            let reads = updates[0]
            onOwnThread("ferry-network", stackSize: 512 << 10) { [self] in
                var loop = NetworkLoop(watch: self, hub: hub, tools: tools, sockets: sockets, updates: reads)
                loop.run()
                hangUp(reads)
                ended.open()
            }
        }

        /// Requests the end of the thread; ``ended`` opens when it is reached.
        func end() {
            state.withLock {
                $0.isEnding = true
                ring($0)
            }
        }

        func set(_ settings: NetworkSettings) {
            state.withLock {
                $0.settings = settings
                ring($0)
            }
        }

        var settings: NetworkSettings { state.withLock { $0.settings } }
        var isEnding: Bool { state.withLock { $0.isEnding } }

        private func ring(_ state: State) {
            // A full pipe wakes the thread already.
            if state.updates >= 0 { _ = write(state.updates, "!", 1) }
        }

        private func hangUp(_ reads: Int32) {
            if reads >= 0 { close(reads) }
            state.withLock {
                if $0.updates >= 0 { close($0.updates) }
                $0.updates = -1
            }
        }
    }
#endif
