public import Ferry
public import FerryCore
public import Foundation
public import Observation

/// The list of a manager's downloads, kept up to date for a view: `@Observable`, on the main actor.
///
/// ```swift
/// import Ferry
/// import FerryUI
///
/// @State private var list = DownloadList(.shared)
/// List(list.items) { item in Text(item.title); ProgressView(value: item.fraction); Text(item.stateText) }
///     .task { await list.run() }
/// ```
///
/// Loads only a window of the list, so that the list may have any length. Retains its manager.
@MainActor @Observable
public final class DownloadList {
    /// The rows of the window, in the order of the list.
    public private(set) var items: [DownloadItem] = []
    /// The total number of listed downloads.
    public private(set) var count = 0
    /// The error of the last read; `nil` if it succeeded.
    public private(set) var error: DownloadError?
    /// The index of the window's first row.
    public var offset: Int { didSet { if offset != oldValue { invalidate() } } }
    /// The maximum number of rows in the window. Default 200.
    public var limit: Int { didSet { if limit != oldValue { invalidate() } } }

    @ObservationIgnored private let manager: DownloadManager
    @ObservationIgnored private let locale: Locale
    @ObservationIgnored private var isStale = true
    /// Notified when the rows may need a refresh again.
    @ObservationIgnored private let updates = AsyncEvent()

    /// Creates a list of at most `limit` downloads, starting at index `offset`; empty until ``run()`` or ``reload()``. `locale`
    /// is used for the sizes, speeds, percentages and times of the rows.
    public init(
        _ manager: DownloadManager, offset: Int = 0, limit: Int = 200, locale: Locale = .autoupdatingCurrent
    ) {
        self.manager = manager
        self.locale = locale
        self.offset = offset
        self.limit = limit
    }

    /// Keeps the list up to date until the task is cancelled or the manager shuts down: ten times a second while
    /// downloads run, otherwise on changes.
    public func run() async {
        let changes = manager.listChanges
        await reload()
        // owner: this call, which cancels it.
        let ticker = Task { [weak self, updates] in
            while !Task.isCancelled {
                let seen = updates.count
                guard let isBusy = self?.isBusy else { return }
                if isBusy {
                    try? await Task.sleep(for: .milliseconds(100))
                    await self?.tick()
                } else {
                    await updates.wait(after: seen)
                }
            }
        }
        defer { ticker.cancel() }
        for await change in changes { await apply(change) }
    }

    /// Reads the rows again.
    public func reload() async {
        isStale = false
        do throws(DownloadError) {
            let downloads = try await manager.downloads(offset: offset, limit: limit)
            let known = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
            // A download that was removed from the list and added again has a new handle, so it gets a new item.
            items = downloads.map { download in
                known[download.id].flatMap { $0.download == download ? $0 : nil }
                    ?? DownloadItem(download, locale: locale)
            }
            for item in items { item.refresh() }
            count = try await manager.downloadCount
            error = nil
        } catch {
            self.error = error
        }
        updates.notify()
    }

    private func invalidate() {
        isStale = true
        updates.notify()
    }

    /// Whether a download is transferring, or the window has changed.
    private var isBusy: Bool { isStale || items.contains(where: \.isMoving) }

    private func apply(_ change: ListChange) async {
        if change.isReordered || !change.added.isEmpty || !change.removed.isEmpty {
            await reload()
        } else {
            for item in items where change.changed.contains(item.id) { item.refresh() }
            updates.notify()
        }
    }

    private func tick() async {
        if isStale { await reload() }
        for item in items where item.isMoving { item.refresh() }
    }
}

extension DownloadItem {
    fileprivate var isMoving: Bool { status.state == .downloading || status.state == .verifying }
}
