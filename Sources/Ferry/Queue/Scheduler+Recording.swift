import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization

/// Storing states, events and ends of runs.
extension Scheduler {
    /// Stores a new state of a run, and the time of the next attempt, so that another process does not retry earlier.
    func keep(_ new: DownloadState, of live: LiveDownload, retryAt: Date?) {
        guard let store = keptStore, !new.isFinal else { return }
        var fields: [RowField] = [.state(new)]
        if let attempts = live.driver?.retries.attempts { fields.append(.attempts(attempts, retryAt: retryAt)) }
        store.submit([.update(live.id, fields)])
    }

    /// The store, if the list is kept.
    var keptStore: (any DownloadStore)? {
        state.withLock { $0.configuration.storage.isKept ? $0.store : nil }
    }

    /// Stores and sends an event that is no end.
    func happened(_ told: LocalizedEvent, to id: DownloadID) {
        keptStore?.submit([.record(DownloadEvent(id: id, date: clock.date(), told))])
        hub.send(
            event(
                told.kind, of: id, date: clock.date(), number: nil, session: known(id)?.session, reason: told.reason))
    }

    /// Makes changes durable; an error is logged and does not stop the download.
    func keep(_ changes: [StoreChange]) async {
        guard let store = state.withLock({ $0.store }) else { return }
        do throws(DownloadError) { try await store.commit(changes) } catch { complain(error) }
    }

    /// Stores the end of a download durably; returns the number of its event, if events are kept.
    func end(_ id: DownloadID, _ outcome: Ending.Outcome) async -> Int64? {
        guard let store = state.withLock({ $0.store }) else { return nil }
        do throws(DownloadError) {
            let isKept = configuration.storage.isKept
            return try await store.commit([.end(id, Ending(outcome, at: clock.date(), isNumbered: isKept))]).first?
                .number
        } catch {
            complain(error)
            return nil
        }
    }

    func complain(_ error: DownloadError) {
        configuration.logger?.error("the list of downloads could not be kept: \(error)")
    }

    /// The stamp of a finished file. Does not block on the disk, since the file was written just now.
    func stamp(of finished: FinishedDownload) -> FileStamp? {
        guard !finished.path.isEmpty else { return nil }
        let fileSystem = engine.environment(for: configuration).fileSystem
        return (try? PublishedFile.read(finished.path, fileSystem: fileSystem)).flatMap { $0 }.map { FileStamp($0) }
    }

    func forgetSecrets(of id: DownloadID) async {
        let (vault, isKept) = state.withLock { ($0.vault, $0.configuration.storage.isKept) }
        if isKept { await vault.remove([id]) }
    }

    func isListed(_ id: DownloadID) -> Bool { state.withLock { $0.listed.contains(id) } }
}
