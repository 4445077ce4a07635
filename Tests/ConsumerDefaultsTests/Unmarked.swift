import Ferry
import FerryUI
import Foundation
import Observation

// What an app writes that is on the main actor unless it says otherwise: no mark anywhere.

@Observable
final class UnmarkedModel: DownloadManagerDelegate {
    private(set) var items: [DownloadItem] = []
    private(set) var ended = 0

    func add(_ url: URL, to manager: DownloadManager, into folder: URL) async throws {
        var request = try DownloadRequest(from: url, into: folder)
        try request.setHeader("Authorization", to: "Bearer t")
        items.append(DownloadItem(try await manager.download(request)))
    }

    func watch(_ item: DownloadItem) -> Task<Void, Never> {
        Task { for await _ in item.download.updates(every: .seconds(1)) { item.refresh() } }
    }

    func limit(_ count: Int, of manager: DownloadManager) async {
        await manager.configure { $0.maxConcurrentDownloads = count }
    }

    func count(_ events: AsyncStream<DownloadEvent>) async {
        for await event in events {
            if case .completed = event.kind { ended += 1 }
            event.acknowledge()
        }
    }

    func downloadManager(_ manager: DownloadManager, didPause download: Download) async {
        items.first { $0.id == download.id }?.refresh()
    }
}
