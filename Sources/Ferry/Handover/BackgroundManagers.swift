import Synchronization

/// The managers of this process whose downloads go on in the background, by their identifiers.
enum BackgroundManagers {
    private struct Weak: Sendable { weak var scheduler: Scheduler? }
    private static let all = Mutex<[String: Weak]>([:])

    /// Lists a manager that is new; a later one with the same identifier takes its place.
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
