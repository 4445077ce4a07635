import FerryCore
import FerryEngine
import Synchronization

extension Scheduler {
    /// The error with the configured reason why this process may not write, if there is one.
    func explained(_ error: DownloadError, _ live: LiveDownload) async -> DownloadError {
        guard error.code == .disk, let refusal = configuration.refusal,
            let store = state.withLock({ $0.store }), let row = try? await store.row(live.id),
            let directory = row.directory
        else { return error }
        let environment = engine.environment(for: configuration)
        guard var known = await environment.pool.run({ refusal(directory) }) else { return error }
        known.underlying = error.message
        return known
    }
}
