import FerryCore
import FerryEngine
import Synchronization

/// Operations for the program that hosts several sessions, beyond those of an app.
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

    /// The current status of a row's download; the state in memory takes precedence over the row.
    func status(of row: CatalogueRow) -> DownloadStatus {
        if let live = known(row.id) { return live.status }
        var status = row.status
        if status.state.followsQueue, let reason = standing(of: row.id) { status.state = .waiting(reason) }
        return status
    }

    /// The snapshot that a handle of this row would show; `revision` was taken before the row was read.
    func snapshot(of row: CatalogueRow, revision: UInt64) -> DownloadSnapshot {
        if let live = known(row.id) { return live.snapshot }
        return DownloadSnapshot(
            status: status(of: row), request: row.request(with: nil), finished: row.finished, revision: revision)
    }

    /// The running downloads with their sessions.
    var running: [(status: DownloadStatus, session: String)] {
        let lives = state.withLock { state in state.runs.keys.compactMap { registry[$0] } }
        return lives.map { ($0.status, $0.session) }
    }

    /// The state of the file's ranges: from the driver while it runs, otherwise from the journal.
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
