public import Ferry
public import FerryCore
public import Observation

/// One row of a list of downloads, with formatted texts.
@MainActor @Observable
public final class DownloadItem: Identifiable {
    nonisolated public let id: DownloadID
    /// The handle, for actions.
    nonisolated public let download: Download
    /// The status at the last refresh.
    public private(set) var status: DownloadStatus

    init(_ download: Download) {
        id = download.id
        self.download = download
        status = download.status
    }

    /// The app's label, or the file's name.
    public var title: String { download.request.label ?? status.name }
    /// `4.4 MB / 12.3 MB`, or `4.4 MB / ?` while the size is unknown.
    public var sizeText: String {
        ByteText.progress(completed: status.progress.completedBytes, total: status.progress.totalBytes)
    }
    /// `1.2 MB/s`; empty while there is no transfer.
    public var speedText: String {
        status.progress.bytesPerSecond > 0 ? ByteText.rate(status.progress.bytesPerSecond) : ""
    }
    /// `35.8%`; `100.0%` only for a complete download, `--` while the size is unknown.
    public var percentText: String { ByteText.percent(fraction, isComplete: status.isComplete) }
    /// The time left, `1m 05s`; `--` while it is unknown.
    public var timeText: String { ByteText.duration(status.progress.timeRemaining) }
    /// The state as text, in the language of the process.
    public var stateText: String { status.state.text(in: .current) }
    /// 0 to 1; `nil` while the size is unknown.
    public var fraction: Double? { status.progress.fraction }
    /// The actions that are permitted now, for buttons.
    public var actions: Set<DownloadAction> { status.actions }

    /// Reads the status again. Returns true if it changed.
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
