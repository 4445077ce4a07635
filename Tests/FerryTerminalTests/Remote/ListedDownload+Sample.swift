import Ferry
import FerryAPI
import Foundation

extension ListedDownload {
    /// A download as the daemon would show it.
    static func sample(
        _ id: String, _ state: DownloadState = .downloading, name: String? = nil, done: ByteCount = 500_000,
        total: ByteCount? = 1_000_000, speed: Double = 100_000, asOf position: UInt64? = nil
    ) -> ListedDownload {
        var listed = ListedDownload(
            status: DownloadStatus(
                id: DownloadID(rawValue: id), state: state,
                progress: DownloadProgress(
                    completedBytes: done, totalBytes: total, bytesPerSecond: speed, timeRemaining: .seconds(5),
                    connections: 2),
                name: name ?? "\(id).iso", path: nil),
            session: "default", url: "http://example.com/\(id)", addedAt: Date(timeIntervalSince1970: 0))
        listed.asOf = position
        return listed
    }
}
