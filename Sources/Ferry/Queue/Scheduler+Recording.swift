import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization

/// What is written into the store about runs, their events and their ends.
extension Scheduler {
    /// A back-off is remembered, so that the next attempt is not made earlier by another process (A38).
    func keep(_ new: DownloadState, of live: LiveDownload, retryAt: Date?) {
        guard let store = keptStore, !new.isFinal else { return }
        var fields: [RowField] = [.state(new)]
        if let attempts = live.driver?.retries.attempts { fields.append(.attempts(attempts, retryAt: retryAt)) }
        store.submit([.update(live.id, fields)])
    }

    /// The store, where what is told is kept.
    var keptStore: (any DownloadStore)? {
        state.withLock { $0.configuration.storage.isKept ? $0.store : nil }
    }

    /// Keeps an event that ends nothing, and tells it.
    func happened(_ told: LocalizedEvent, to id: DownloadID) {
        keptStore?.submit([.record(DownloadEvent(id: id, date: clock.date(), told))])
        hub.send(
            event(
                told.kind, of: id, date: clock.date(), number: nil, session: known(id)?.session, reason: told.reason))
    }

    /// Makes changes durable; what the store says against them is told, and stops nobody's download.
    func keep(_ changes: [StoreChange]) async {
        guard let store = state.withLock({ $0.store }) else { return }
        do throws(DownloadError) { try await store.commit(changes) } catch { complain(error) }
    }

    /// The end of a download, durable; the number of its event, where events are kept.
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

    /// The file as it is now. It was written just now, so that the system need not ask the disk.
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
