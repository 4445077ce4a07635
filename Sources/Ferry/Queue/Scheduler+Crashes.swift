import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization
import SystemPackage

/// Downloads whose runs end the process: they must not do so forever.
extension Scheduler {
    /// Records for the next process whether a download is running.
    func mark(_ id: DownloadID, isRunning: Bool, _ environment: EngineEnvironment) async {
        guard let ledger = state.withLock({ $0.ledger }) else { return }
        // Off the event loop, and not queued behind the pool's syncs and digests.
        await withTaskExecutorPreference(environment.executor) { isRunning ? ledger.begin(id) : ledger.end(id) }
    }

    /// Opens the ledger and pauses downloads under which the process died too often. Returns the updated entries and
    /// the identifiers of the paused downloads.
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
            // They are not started all the same, and the ledger keeps the counts for the next opening.
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

    /// Reports that these downloads were paused, and why.
    func tellCrashes(of paused: [DownloadID]) {
        for id in paused {
            happened(.note(Reason.phrase(PauseReason.crashes.phrase)), to: id)
            happened(LocalizedEvent(.paused), to: id)
        }
    }
}

extension IndexEntry {
    /// Whether the download is started automatically, now or later.
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
