import FerryCore
import FerryEngine
import Synchronization

/// What sessions allow themselves, under what the manager allows.
extension Scheduler {
    /// At once, also for what runs.
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

    /// What the runs of a session share; `nil` for those that belong to none in particular.
    func throttle(of session: String) -> Throttle? {
        state.withLock { state in
            let group = state.group(of: session)
            return state.groups.throttle(of: group, clock: clock)
        }
    }
}

extension DownloadManager {
    /// What one session allows itself, at once and until it is set anew; nothing is kept.
    package func set(_ settings: SessionSettings, of session: String) { scheduler?.set(settings, of: session) }
}
