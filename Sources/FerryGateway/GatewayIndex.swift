import Ferry
import FerryCore
import Synchronization

/// The downloads of the gateway by digest and by URL. Some may have left the list.
final class GatewayIndex: Sendable {
    private struct State {
        var byDigest: [String: Set<DownloadID>] = [:]
        var byURL: [String: Set<DownloadID>] = [:]
        /// Whether the downloads that were listed at the start have been read.
        var isComplete = false

        mutating func add(_ request: DownloadRequest, as id: DownloadID) {
            if let url = request.sources.first { byURL[url.text, default: []].insert(id) }
            if let checksum = request.checksum { byDigest["\(checksum)", default: []].insert(id) }
        }
    }
    private let state = Mutex(State())

    func add(_ request: DownloadRequest, as id: DownloadID) { state.withLock { $0.add(request, as: id) } }

    func downloads(
        of checksum: Checksum, in manager: DownloadManager
    ) async throws(DownloadError) -> Set<DownloadID> {
        try await complete(from: manager)
        return state.withLock { $0.byDigest["\(checksum)"] ?? [] }
    }

    func downloads(of url: DownloadURL, in manager: DownloadManager) async throws(DownloadError) -> Set<DownloadID> {
        try await complete(from: manager)
        return state.withLock { $0.byURL[url.text] ?? [] }
    }

    /// Removes the downloads for which `isKept` returns `false`.
    func keep(_ isKept: (DownloadID) -> Bool) {
        state.withLock { state in
            state.byDigest = state.byDigest.mapValues { $0.filter(isKept) }.filter { !$0.value.isEmpty }
            state.byURL = state.byURL.mapValues { $0.filter(isKept) }.filter { !$0.value.isEmpty }
        }
    }

    private func complete(from manager: DownloadManager) async throws(DownloadError) {
        guard !state.withLock({ $0.isComplete }) else { return }
        try await manager.forEachBatch(of: RowFilter(session: GatewayCache.session)) { rows in
            state.withLock { state in
                for row in rows { state.add(row.request, as: row.id) }
            }
        }
        state.withLock { $0.isComplete = true }
    }
}
