import FerryCore
import FerryEngine
import Synchronization

/// What the program that holds the downloads of several sessions asks, beyond what an app does.
extension Scheduler {
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> (rows: [CatalogueRow], total: Int) {
        let store = try await opened()
        let rows = try await store.page(filter, order: order, offset: offset, limit: limit)
        return (rows, try await store.count(filter))
    }

    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try await opened().rows(ids)
    }

    /// How a row stands now: what is known of it in memory goes before what is written down.
    func status(of row: CatalogueRow) -> DownloadStatus {
        if let live = known(row.id) { return live.status }
        var status = row.status
        if status.state.followsQueue, let reason = standing(of: row.id) { status.state = .waiting(reason) }
        return status
    }

    /// All that a handle of a row would show; `revision` is older than what was read of it.
    func snapshot(of row: CatalogueRow, revision: UInt64) -> DownloadSnapshot {
        if let live = known(row.id) { return live.snapshot }
        return DownloadSnapshot(
            status: status(of: row), request: row.request(with: nil), finished: row.finished, revision: revision)
    }

    /// Those that run, with whom they belong to.
    var running: [(status: DownloadStatus, session: String)] {
        let lives = state.withLock { state in state.runs.keys.compactMap { registry[$0] } }
        return lives.map { ($0.status, $0.session) }
    }

    /// What is there of a file: by its driver while it runs, else by its journal.
    func picture(of row: CatalogueRow) async -> TransferPicture? {
        if let picture = known(row.id)?.driver?.picture() { return picture }
        guard let part = row.part ?? row.path.map({ $0 + ".part" }), !row.state.isOver else { return nil }
        let environment = engine.environment(for: configuration)
        let found = await environment.pool.run { try? PartFiles.find(at: part, fileSystem: environment.fileSystem) }
        guard let found, found.record.id == row.id.rawValue else { return nil }
        return TransferPicture(found.record)
    }
}

extension DownloadState {
    fileprivate var isOver: Bool {
        switch self {
        case .completed, .cancelled: true
        case .waiting, .downloading, .verifying, .paused, .failed: false
        }
    }
}
