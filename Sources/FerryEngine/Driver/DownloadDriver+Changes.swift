package import FerryCore
import Synchronization

/// What may be changed while it runs; before the run these are taken as given from the start.
extension DownloadDriver {
    /// The network that its connections go through is another one: all are cut, and it asks again at once. No attempt
    /// is counted.
    package func reconnect() {
        state.withLock { $0.machine.reconnect(at: environment.clock.now()) }
        updates.notify()
    }

    /// Ends a back-off: it tries at once.
    package func retryNow() {
        state.withLock { $0.machine.retryNow(at: environment.clock.now()) }
        updates.notify()
    }

    /// Changes the most connections, at once; at least 1. A stream keeps its one.
    package func set(maxConnections: Int) {
        if case .stream = request.destination { return }
        state.withLock { state in
            state.maxConnections = max(1, maxConnections)
            state.machine.set(maxConnections: maxConnections)
        }
        updates.notify()
    }

    /// Changes this download's own limit at once, in bytes per second; `nil` for none.
    package func set(rateLimit: ByteCount?) {
        throttle.set(rate: rateLimit)
        state.withLock { if $0.isTransferring { note(limit: rateLimit, &$0) } }
    }

    /// Lets the size of what is taken in at once follow its limit.
    func note(limit: ByteCount?, _ state: inout State) {
        guard state.hasLimit || limit != nil else { return }
        state.hasLimit = limit != nil
        environment.note(limitOf: throttle, isRunning: state.hasLimit)
    }

    /// Changes what the journal says of its place in the list, from the next checkpoint on.
    package func set(tags: JournalTags) { state.withLock { $0.tags = tags } }

    /// Its user pauses it: the journal says so from the next checkpoint on.
    package func tagPaused() { state.withLock { $0.tags?.isPaused = true } }

    /// What the next run of this download counts on from; for ``RunContext/retries``.
    package var retries: RetryMemory {
        state.withLock { state in
            guard state.isPrepared else { return context.retries ?? RetryMemory() }
            var memory = state.machine.memory
            memory.missingNames = state.missingNames
            return memory
        }
    }
}
