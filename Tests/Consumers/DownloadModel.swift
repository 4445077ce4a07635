import Ferry
import FerryUI
import Foundation
import Observation

/// The model of a page that downloads one file, as an app writes it: what is shown, and what the buttons do.
@MainActor
@Observable
final class DownloadModel {
    private(set) var item: DownloadItem?
    private(set) var message: String?
    @ObservationIgnored private let manager: DownloadManager

    init(manager: DownloadManager) { self.manager = manager }

    /// Headers for all downloads, and only for the app's own server.
    static func configuration(token: String, server: URL, folder: URL) throws -> DownloadManager.Configuration {
        var configuration = DownloadManager.Configuration.default(
            identifier: "com.example.app", directory: folder.path)
        let origin = Origin(of: try DownloadURL(server))
        try configuration.transfer.setHeader("Authorization", to: "Bearer " + token, for: [origin])
        try configuration.transfer.setHeader("Accept-Language", to: "de")
        return configuration
    }

    func start(_ address: String, into folder: URL, referer: String) async {
        do {
            guard let url = URL(string: address) else { return }
            var request = try DownloadRequest(from: url, into: folder)
            try request.setHeader("Referer", to: referer)
            item = DownloadItem(try await manager.download(request))
            message = nil
        } catch { message = error.localizedDescription }
    }

    func pause() async { await act { try await $0.pause() } }
    func resume() async { await act { try await $0.resume() } }

    func cancel() async {
        await act { try await $0.remove() }
        item = nil
    }

    func can(_ action: DownloadAction) -> Bool { item?.actions.contains(action) ?? false }

    /// Shows the download until it has ended, then says how.
    func follow() async {
        guard let item else { return }
        for await _ in item.download.updates(every: .milliseconds(1)) { item.refresh() }
        item.refresh()
        switch item.status.state {
        case .completed: message = item.status.fileURL?.lastPathComponent
        case .failed(let error): message = error.localizedDescription
        default: break
        }
    }

    private func act(_ action: (Download) async throws -> Void) async {
        do { if let item { try await action(item.download) } } catch { message = error.localizedDescription }
    }
}

/// What an app does with events, on the main actor.
@MainActor
final class DownloadJournal: DownloadManagerDelegate {
    private(set) var lines: [String] = []

    func downloadManager(_ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload) async {
        lines.append(finished.fileURL?.lastPathComponent ?? "")
    }

    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {
        lines.append(error.code.rawValue)
    }
}
