package import FerryCore
import Synchronization

/// Settings that can change during the run; before the run they act as initial values.
extension DownloadDriver {
    /// Closes all connections and retries at once, because the network path changed. Counts no failed attempt.
    package func reconnect() {
        state.withLock { $0.machine.reconnect(at: environment.clock.now()) }
        updates.notify()
    }

    /// Ends a back-off and retries at once.
    package func retryNow() {
        state.withLock { $0.machine.retryNow(at: environment.clock.now()) }
        updates.notify()
    }

    /// Changes the maximum number of connections, at least 1. A stream always uses one connection.
    package func set(maxConnections: Int) {
        if case .stream = request.destination { return }
        state.withLock { state in
            state.maxConnections = max(1, maxConnections)
            state.machine.set(maxConnections: maxConnections)
        }
        updates.notify()
    }

    /// Changes this download's rate limit, in bytes per second; `nil` for none.
    package func set(rateLimit: ByteCount?) {
        throttle.set(rate: rateLimit)
        state.withLock { if $0.isTransferring { note(limit: rateLimit, &$0) } }
    }

    /// Reports the rate limit to the environment, which adapts the read sizes to it.
    func note(limit: ByteCount?, _ state: inout State) {
        guard state.hasLimit || limit != nil else { return }
        state.hasLimit = limit != nil
        environment.note(limitOf: throttle, isRunning: state.hasLimit)
    }

    /// Changes the list entry's tags in the journal, from the next checkpoint on.
    package func set(tags: JournalTags) { state.withLock { $0.tags = tags } }

    /// Marks the download as paused by its user in the journal, from the next checkpoint on.
    package func tagPaused() { state.withLock { $0.tags?.isPaused = true } }

    /// The retry counters for the next run of this download; see ``RunContext/retries``.
    package var retries: RetryMemory {
        state.withLock { state in
            guard state.isPrepared else { return context.retries ?? RetryMemory() }
            var memory = state.machine.memory
            memory.missingNames = state.missingNames
            return memory
        }
    }
}
