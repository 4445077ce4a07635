import FerryCore
import Synchronization

extension DownloadDriver {
    /// Ends an observation of about a second, from which the machine judges what limits the speed.
    func observe(at now: Duration) async {
        let limits = [throttle.rate, context.throttle?.rate, environment.throttle.rate]
        let processor = await environment.processor?.facts(environment.files)
        state.withLock { state in
            state.machine.observed(processor, rateLimit: limits.compactMap(\.self).min(), at: now)
        }
    }
}
