import Synchronization

/// Managers that nobody holds any more and that are still shutting down, by where their list is.
///
/// Nobody can wait for such a shutdown but who opens the same list again in this process.
final class PendingShutdowns: Sendable {
    static let all = PendingShutdowns()

    private let tasks = Mutex<(last: Int, of: [String: [Int: Task<Void, Never>]])>((0, [:]))

    /// Runs `shutdown` to its end; `nil` for one that nobody has to wait for.
    func begin(at place: String?, _ shutdown: @escaping @Sendable () async -> Void) {
        guard let place else {
            // owner: nobody; it ends when everything is safe, and holds nothing but what it shuts down.
            Task { await shutdown() }
            return
        }
        tasks.withLock { tasks in
            tasks.last += 1
            let number = tasks.last
            // owner: tasks, until it has ended.
            tasks.of[place, default: [:]][number] = Task {
                await shutdown()
                self.end(number, at: place)
            }
        }
    }

    /// Returns when nobody shuts down there any more.
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
