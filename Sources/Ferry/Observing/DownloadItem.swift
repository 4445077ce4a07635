public import FerryCore
public import Observation

/// One row of a list of downloads, with texts that can be shown as they are.
@MainActor @Observable
public final class DownloadItem: Identifiable {
    nonisolated public let id: DownloadID
    /// What can be done with it.
    nonisolated public let download: Download
    /// Where it stands.
    public private(set) var status: DownloadStatus

    init(_ download: Download) {
        id = download.id
        self.download = download
        status = download.status
    }

    /// The label that the app gave, else the file's name.
    public var title: String { download.request.label ?? status.name }
    /// `4.4 MB / 12.3 MB`, `4.4 MB / ?` while the size is unknown.
    public var sizeText: String {
        ByteText.progress(completed: status.progress.completedBytes, total: status.progress.totalBytes)
    }
    /// `1.2 MB/s`; empty when nothing moves.
    public var speedText: String {
        status.progress.bytesPerSecond > 0 ? ByteText.rate(status.progress.bytesPerSecond) : ""
    }
    /// `35.8%`, `100.0%` only when it is complete, `--` while the size is unknown.
    public var percentText: String { ByteText.percent(fraction, isComplete: status.isComplete) }
    /// The time left, `1m 05s`; `--` while it is unknown.
    public var timeText: String { ByteText.duration(status.progress.timeRemaining) }
    /// The state in words, in the process's language.
    public var stateText: String { status.state.text(in: .current) }
    /// 0 to 1; `nil` while the size is unknown.
    public var fraction: Double? { status.progress.fraction }
    /// What may be done now: for the buttons.
    public var actions: Set<DownloadAction> { status.actions }

    /// Reads the status anew. True when something changed.
    @discardableResult
    func refresh() -> Bool {
        let now = download.status
        guard now != status else { return false }
        status = now
        return true
    }
}

extension DownloadStatus {
    fileprivate var isComplete: Bool { if case .completed = state { true } else { false } }
}
