import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization
import SystemPackage

/// Downloads whose runs end the process: whatever the reason, they must not do so for ever.
extension Scheduler {
    /// Notes for the next process that a download runs now, or does not any more.
    func mark(_ id: DownloadID, isRunning: Bool, _ environment: EngineEnvironment) async {
        guard let ledger = state.withLock({ $0.ledger }) else { return }
        // Not on an event loop, and not behind the syncs and digests of the pool.
        await withTaskExecutorPreference(environment.executor) { isRunning ? ledger.begin(id) : ledger.end(id) }
    }

    /// Opens the ledger, and pauses those under which the process has died too often. Gives the entries as they are then,
    /// and who was paused.
    func openLedger(
        at place: String, _ entries: [IndexEntry], in store: any DownloadStore
    ) async -> (ledger: RunLedger?, entries: [IndexEntry], paused: [DownloadID]) {
        let environment = engine.environment(for: configuration)
        let path = FilePath(place).appending("running")
        let ids = entries.filter(\.mayRun).map(\.id)
        let ledger: RunLedger? = await environment.pool.run {
            let ledger = try? RunLedger.open(at: path, fileSystem: environment.fileSystem)
            ledger?.keep(only: ids)
            return ledger
        }
        guard let ledger else {
            configuration.logger?.warning("\(path) cannot be used: it is not known which downloads ended the program")
            return (nil, entries, [])
        }
        let paused = Set(ids.filter { ledger.deaths(of: $0) >= RunLedger.mostDeaths })
        guard !paused.isEmpty else { return (ledger, entries, []) }
        do throws(DownloadError) {
            try await store.commit(paused.map { .update($0, [.paused(.crashes), .attempts(0, retryAt: nil)]) })
            await environment.pool.run { for id in paused { ledger.end(id) } }
        } catch {
            // They are not begun all the same, and the ledger still knows at the next opening.
            complain(error)
        }
        let changed = entries.map { entry in
            guard paused.contains(entry.id) else { return entry }
            var entry = entry
            entry.kind = .paused
            entry.wakeAt = nil
            return entry
        }
        return (ledger, changed, entries.map(\.id).filter { paused.contains($0) })
    }

    /// Tells that these were paused, and why.
    func tellCrashes(of paused: [DownloadID]) {
        for id in paused {
            happened(.note(Reason.phrase(PauseReason.crashes.phrase)), to: id)
            happened(LocalizedEvent(.paused), to: id)
        }
    }
}

extension IndexEntry {
    /// It runs by itself, now or later.
    var mayRun: Bool {
        switch kind {
        case .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingToStart, .downloading,
            .verifying:
            true
        case .failed: wakeAt != nil
        case .waitingForFreshLink, .waitingForCredentials, .paused, .completed, .cancelled: false
        }
    }
}
