import FerryCore
import Synchronization

/// The network tasks of a list: the watcher, the lookups of host names, and the time limit of a doubt. A *doubt* is a period in
/// which it is uncertain whether a running download still has a network.
///
/// Networks have ascending numbers. A lookup belongs to one network, and is cancelled when a newer network is seen. The watcher
/// is started once, when something depends on the network. After ``close()`` no task is left, and none begins.
///
/// The queue's mutex may be acquired while this one is held, never vice versa.
final class NetworkTasks: Sendable {
    /// Maximum number of concurrent lookups.
    private static let maxLookups = 64

    private struct State {
        var watcher: Task<Void, Never>?
        /// The number of the network to which the lookups belong.
        var network = 0
        var lookups: [String: Task<Void, Never>] = [:]
        var doubt: Task<Void, Never>?
        var isClosed = false

        /// Switches to a newer network; returns the lookups of the previous one.
        mutating func move(to number: Int) -> [Task<Void, Never>] {
            guard number > network else { return [] }
            network = number
            defer { lookups = [:] }
            return Array(lookups.values)
        }
    }
    private let state = Mutex(State())

    var isWatching: Bool { state.withLock { $0.watcher != nil } }

    /// Starts the watcher, once.
    func watch(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.watcher == nil, !state.isClosed else { return }
            // owner: state, cancelled in close.
            state.watcher = Task { await body() }
        }
    }

    /// Switches to a network: cancels the lookups of earlier networks and, if online, the time limit of a doubt.
    func follow(_ network: Int, isOnline: Bool) {
        let old = state.withLock { state in
            var old = state.move(to: network)
            if isOnline, network >= state.network, let doubt = state.doubt {
                old.append(doubt)
                state.doubt = nil
            }
            return old
        }
        for task in old { task.cancel() }
    }

    /// Resolves names, at most ``maxLookups`` at a time.
    ///
    /// - Parameter next: The next name, and the number of the network to resolve it in; `nil` if there is none.
    func lookUp(
        _ next: () -> (name: String, network: Int)?, _ body: @escaping @Sendable (String, Int) async -> Void
    ) {
        let old = state.withLock { state in
            var old: [Task<Void, Never>] = []
            while !state.isClosed, state.lookups.count < Self.maxLookups, let (name, network) = next() {
                old += state.move(to: network)
                // owner: state; cancelled when the network changes, and in close.
                state.lookups[name] = Task { await body(name, network) }
            }
            return old
        }
        for task in old { task.cancel() }
    }

    /// Removes a lookup that has ended.
    func lookedUp(_ name: String, in network: Int) {
        state.withLock { state in if state.network == network { state.lookups[name] = nil } }
    }

    /// Starts the task that ends a doubt which has just begun.
    func limitDoubt(_ body: @escaping @Sendable () async -> Void) {
        let last: Task<Void, Never>? = state.withLock { state in
            guard !state.isClosed else { return nil }
            defer {
                // owner: state; cancelled when the machine is online again, and in close.
                state.doubt = Task { await body() }
            }
            return state.doubt
        }
        last?.cancel()
    }

    /// Cancels all tasks; no task begins afterwards.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            defer { state.lookups = [:] }
            return Array(state.lookups.values) + [state.watcher, state.doubt].compactMap(\.self)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
