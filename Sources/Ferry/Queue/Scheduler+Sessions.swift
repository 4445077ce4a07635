import FerryCore
import FerryEngine
import Synchronization

/// Limits of sessions, within those of the manager.
extension Scheduler {
    /// Applies settings at once, also to running downloads.
    func set(_ settings: SessionSettings, of session: String) {
        let (environment, throttle) = state.withLock { state in
            let group = state.group(of: session)
            state.groups.set(settings, of: group)
            state.policy.set(limit: settings.maxConcurrentDownloads, ofGroup: group)
            return (
                engine.environment(for: state.configuration), state.groups.throttle(of: group, clock: clock)
            )
        }
        if let throttle { environment.note(limitOf: throttle, isRunning: settings.rateLimit != nil) }
        applyNetworkRules()
        reschedule()
        showStandings()
    }

    /// The throttle that the runs of a session share; `nil` for the list's own session.
    func throttle(of session: String) -> Throttle? {
        state.withLock { state in
            let group = state.group(of: session)
            return state.groups.throttle(of: group, clock: clock)
        }
    }
}

extension DownloadManager {
    /// Sets the limits of a session, effective at once; not stored.
    package func set(_ settings: SessionSettings, of session: String) { scheduler?.set(settings, of: session) }
}
