import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// The scheduler as backend of a manager; most requirements are implemented in the other extensions.
extension Scheduler: DownloadBackend {
    func activate() async throws(DownloadError) { _ = try await opened() }

    func directory() async throws(DownloadError) -> String {
        if case .catalogue(_, let directory, _) = configuration.storage { return directory }
        return FileManager.default.currentDirectoryPath
    }

    func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan {
        let configuration = configuration
        return try await DownloadPlanner(
            request: request, environment: engine.environment(for: configuration),
            headLimit: configuration.stallTimeout
        ).plan()
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        try await add(resumingWith: data, session: nil)
    }

    func pauseAll() async throws(DownloadError) { try await pauseAll(session: nil) }

    func resumeAll() async throws(DownloadError) { try await resumeAll(session: nil) }

    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError) {
        try await clear(filter, deletingFiles: deletingFiles, session: nil)
    }

    var listChanges: ListChanges { list.changes() }

    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await opened().history(of: id)
    }

    func date() -> Date { clock.date() }

    var network: NetworkStatus {
        watchNetwork()
        return state.withLock { $0.network.status }
    }

    var networkChanges: AsyncStream<NetworkStatus> {
        watchNetwork()
        return networkHub.stream {
            // Omits an assumed status while the first check is running.
            state.withLock { $0.knowsNetwork || $0.watcher == nil ? $0.network.status : nil }
        }
    }
}
