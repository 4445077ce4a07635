import Synchronization

/// The managers of this process whose downloads continue in the background, by identifier.
enum BackgroundManagers {
    private struct Weak: Sendable { weak var scheduler: Scheduler? }
    private static let all = Mutex<[String: Weak]>([:])

    /// Registers a new manager; it replaces an earlier one with the same identifier.
    static func register(_ scheduler: Scheduler) {
        let configuration = scheduler.configuration
        guard configuration.backgroundTransfer != nil, configuration.storage.isKept,
            let identifier = configuration.storage.identifier
        else { return }
        all.withLock { all in
            all = all.filter { $1.scheduler != nil }
            all[identifier] = Weak(scheduler: scheduler)
        }
    }

    static subscript(identifier: String) -> Scheduler? { all.withLock { $0[identifier]?.scheduler } }
}
