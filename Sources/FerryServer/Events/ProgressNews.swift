import FerryCore

/// Who of those that run is to be told about: who has moved since the last time, or all when somebody has entered, who knows
/// nothing yet. Pure.
struct ProgressNews: Sendable {
    private var told: [DownloadID: DownloadProgress] = [:]
    private var entrances = 0

    /// Those to tell about, who count as told.
    ///
    /// - Parameter entrances: How often somebody has entered so far.
    mutating func take(
        _ running: [(status: DownloadStatus, session: String)], entrances: Int
    ) -> [(status: DownloadStatus, session: String)] {
        let isNew = entrances != self.entrances
        let moved = running.filter { isNew || told[$0.status.id] != $0.status.progress }
        told = Dictionary(running.map { ($0.status.id, $0.status.progress) }) { first, _ in first }
        self.entrances = entrances
        return moved
    }

    /// Nobody runs any more.
    mutating func clear() { told = [:] }
}
