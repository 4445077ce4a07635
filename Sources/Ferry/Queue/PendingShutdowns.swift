import Synchronization

/// The running shutdowns of released managers, by state directory.
///
/// They are awaited only when the same list is opened again in this process.
package final class PendingShutdowns: Sendable {
    package static let all = PendingShutdowns()

    private let tasks = Mutex<(last: Int, of: [String: [Int: Task<Void, Never>]])>((0, [:]))

    /// Runs `shutdown` to its end; with a `nil` place, nothing can await it.
    package func begin(at place: String?, _ shutdown: @escaping @Sendable () async -> Void) {
        guard let place else {
            // owner: none; the task ends when all state is durable, and retains only the objects that it shuts down.
            Task { await shutdown() }
            return
        }
        tasks.withLock { tasks in
            tasks.last += 1
            let number = tasks.last
            // owner: tasks, until the shutdown has ended.
            tasks.of[place, default: [:]][number] = Task {
                await shutdown()
                self.end(number, at: place)
            }
        }
    }

    /// Waits until no shutdown is running for this place.
    func wait(at place: String) async {
        let pending = tasks.withLock { $0.of[place].map { Array($0.values) } ?? [] }
        for task in pending { await task.value }
    }

    private func end(_ number: Int, at place: String) {
        tasks.withLock { tasks in
            tasks.of[place]?[number] = nil
            if tasks.of[place]?.isEmpty == true { tasks.of[place] = nil }
        }
    }
}
