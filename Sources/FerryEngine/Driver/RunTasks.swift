import FerryCore
import Synchronization

/// The tasks of a run, which are awaited before it ends.
final class RunTasks: Sendable {
    private let state = Mutex(State())

    private struct State {
        var connections: [ConnectionID: Task<Void, Never>] = [:]
        var checkpoint: Task<Void, Never>?
        /// The tasks that read documents describing the file; all but the last are cancelled.
        var descriptions: [Task<Void, Never>] = []
    }

    /// Adds the task of a connection, which `begin` creates under the lock, because it may end before this call returns.
    func add(_ id: ConnectionID, _ begin: () -> Task<Void, Never>) { state.withLock { $0.connections[id] = begin() } }

    /// Removes the task of a connection that is about to end.
    func ended(_ id: ConnectionID) { state.withLock { $0.connections[id] = nil } }

    func cancel(_ id: ConnectionID) { state.withLock { $0.connections[id] }?.cancel() }

    func set(checkpoint task: Task<Void, Never>) { state.withLock { $0.checkpoint = task } }

    /// Cancels the tasks that read documents, and adds a new one.
    func set(description task: Task<Void, Never>?) {
        let before = state.withLock { state in
            defer { if let task { state.descriptions.append(task) } }
            return state.descriptions
        }
        for task in before { task.cancel() }
    }

    /// Cancels the tasks that wait for servers, and returns once they and the checkpoint have ended.
    func drain() async {
        let (connections, checkpoint) = state.withLock { (Array($0.connections.values), $0.checkpoint) }
        for connection in connections { connection.cancel() }
        set(description: nil)
        for connection in connections { await connection.value }
        // The last response of a connection may have started another task.
        let descriptions = state.withLock { $0.descriptions }
        for task in descriptions { task.cancel() }
        for task in descriptions { await task.value }
        await checkpoint?.value
    }
}
