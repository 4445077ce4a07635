public import Ferry
public import FerryCore
public import Foundation
public import Observation

/// A row in a list of downloads, with texts in the user's language, and with sizes, speeds, percentages and times formatted for
/// the user's locale.
@MainActor @Observable
public final class DownloadItem: Identifiable {
    nonisolated public let id: DownloadID
    /// The handle, for actions.
    nonisolated public let download: Download
    /// The status at the last refresh.
    public private(set) var status: DownloadStatus

    /// The locale for sizes, speeds, percentages and times.
    public var locale: Locale

    /// Creates the row of a download. A ``DownloadList`` keeps its rows up to date; otherwise call ``refresh()``.
    public init(_ download: Download, locale: Locale = .autoupdatingCurrent) {
        id = download.id
        self.download = download
        self.locale = locale
        status = download.status
    }

    /// The app's label, or the file's name.
    public var title: String { download.request.label ?? status.name }
    /// `4.4 MB / 12.3 MB`, `4,4 Mo / 12,3 Mo`; `4.4 MB / ?` while the size is unknown.
    public var sizeText: String {
        let progress = status.progress
        return "\(size(progress.completedBytes)) / \(progress.totalBytes.map(size) ?? "?")"
    }
    /// `1.2 MB/s`; empty while there is no transfer.
    public var speedText: String {
        let speed = status.progress.bytesPerSecond
        return speed > 0 ? size(ByteCount(exactly: speed.rounded()) ?? .max) + "/s" : ""
    }
    /// `35.8%`; `100.0%` only for a complete download, `--` while the size is unknown.
    public var percentText: String {
        guard let shown = status.isComplete ? 1 : fraction.map({ min($0, 0.999) }) else { return "--" }
        return shown.formatted(.percent.precision(.fractionLength(1)).locale(locale))
    }
    /// The remaining time, `1m 5s`; `--` while it is unknown.
    public var timeText: String {
        // An estimate of a thousand days or more is not useful.
        guard let time = status.progress.timeRemaining, time < .seconds(86_400_000) else { return "--" }
        let parts: Set<Duration.UnitsFormatStyle.Unit> = [.days, .hours, .minutes, .seconds]
        let style = Duration.UnitsFormatStyle(allowedUnits: parts, width: .narrow, maximumUnitCount: 2)
        return max(.zero, time).formatted(style.locale(locale))
    }
    /// The state as text, in the language of the process.
    public var stateText: String { status.state.text(in: .current) }
    /// 0 to 1; `nil` while the size is unknown.
    public var fraction: Double? { status.progress.fraction }
    /// The actions that are permitted now, for buttons.
    public var actions: Set<DownloadAction> { status.actions }

    private func size(_ bytes: ByteCount) -> String {
        bytes.formatted(.byteCount(style: .file, spellsOutZero: false).locale(locale))
    }

    /// Reads the status again. Returns `true` if it has changed.
    @discardableResult
    public func refresh() -> Bool {
        let now = download.status
        guard now != status else { return false }
        status = now
        return true
    }
}

extension DownloadStatus {
    fileprivate var isComplete: Bool { if case .completed = state { true } else { false } }
}
