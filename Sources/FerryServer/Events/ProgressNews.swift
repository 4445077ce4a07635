import FerryCore

/// Selects the running downloads whose progress has changed since the last call, or all if a client has connected
/// since. Pure.
struct ProgressNews: Sendable {
    private var told: [DownloadID: DownloadProgress] = [:]
    private var entrances = 0

    /// Returns the downloads to report and records their progress as reported.
    ///
    /// - Parameter entrances: The number of clients that have ever connected.
    mutating func take(
        _ running: [(status: DownloadStatus, session: String)], entrances: Int
    ) -> [(status: DownloadStatus, session: String)] {
        let isNew = entrances != self.entrances
        let moved = running.filter { isNew || told[$0.status.id] != $0.status.progress }
        told = Dictionary(running.map { ($0.status.id, $0.status.progress) }) { first, _ in first }
        self.entrances = entrances
        return moved
    }

    /// Forgets all reported progress; called when no download is running.
    mutating func clear() { told = [:] }
}
