import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The automatic retries of failed downloads (`retriesFailedAfter`). The setting also applies to downloads that failed before it
/// was set; the delay counts from the end of each download. It does not apply to downloads whose retries the user has stopped.
extension Scheduler {
    /// Sets the dates of the stored downloads' retries by the current setting, which may have changed since the downloads failed.
    /// Returns the updated entries.
    func dateRetries(_ entries: [IndexEntry], in store: any DownloadStore) async -> [IndexEntry] {
        let delay = configuration.parksListed ? nil : configuration.retriesFailedAfter
        var dates: [DownloadID: Date?] = [:]
        // Without the setting, only downloads that have a retry date change: they lose it.
        let failed = entries.filter { $0.kind == .failed && (delay != nil || $0.wakeAt != nil) }.map(\.id)
        for some in failed.chunks() {
            guard let rows = try? await store.rows(some) else { continue }
            for row in rows where row.retryAt != .never {
                let date = row.retryDate(after: delay)
                if date != row.retryAt { dates[row.id] = .some(date) }
            }
        }
        guard !dates.isEmpty else { return entries }
        store.submit(dates.map { .update($0, [.attempts(0, retryAt: $1)]) })
        return entries.map { entry in
            guard let date = dates[entry.id] else { return entry }
            var entry = entry
            entry.wakeAt = date
            return entry
        }
    }

    /// Applies a changed setting to the failed downloads of an open list.
    func renewRetries() async {
        // An opening that began before the change may have read the old setting.
        await openLock.acquire()
        openLock.release()
        guard queue.isOpen, let store else { return }
        do throws(DownloadError) {
            for some in try await store.identifiers(RowFilter(kinds: [.failed])).chunks() {
                let lives = try await lives(in: store) { () async throws(DownloadError) in try await store.rows(some) }
                _ = await lives.concurrently { live in await self.renewRetry(of: live, in: store) }
                log.append(ListChange(changed: Set(lives.map(\.id))))
            }
        } catch { complain(error) }
    }

    private func renewRetry(of live: LiveDownload, in store: any DownloadStore) async {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard live.current.isFailed, !live.isClosed else { return }
        // The run shows the failure shortly before it ends.
        await holding(live, .change) { _ in
            guard let row = try? await store.row(live.id), row.retryAt != .never, live.current.isFailed else { return }
            let date = row.retryDate(after: configuration.retriesFailedAfter)
            store.submit([.update(live.id, [.attempts(0, retryAt: date)])])
            rest(live.id, date.map { rest(until: $0, isRetry: true) } ?? .parked)
            live.set(retryAt: date)
        }
    }
}

extension [DownloadID] {
    /// The identifiers in chunks, each of which is read from the store at once.
    fileprivate func chunks(of count: Int = 1000) -> [[DownloadID]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min(self.count, $0 + count)]) }
    }
}
