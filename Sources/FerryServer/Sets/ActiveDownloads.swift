import Ferry
import FerryCore
import Synchronization

/// The unfinished downloads of one run of a set.
final class ActiveDownloads: Sendable {
    private let downloads = Mutex<[DownloadID: Download]>([:])

    func add(_ download: Download) { downloads.withLock { $0[download.id] = download } }

    func remove(_ download: Download) { downloads.withLock { $0[download.id] = nil } }

    /// The bytes that the downloads have received, and their total speed in bytes per second.
    var progress: (bytes: ByteCount, bytesPerSecond: Double) {
        downloads.withLock { Array($0.values) }.reduce(into: (0, 0)) { sum, download in
            let progress = download.status.progress
            sum.0 = sum.0.adding(progress.completedBytes)
            sum.1 += progress.bytesPerSecond.isFinite ? progress.bytesPerSecond : 0
        }
    }
}
