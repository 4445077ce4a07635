public import FerryCore
import FerryEngine
public import Observation

/// The list of a manager's downloads, kept up to date for a view: `@Observable`, on the main actor.
///
/// ```swift
/// @State private var list = DownloadList(.shared)
/// List(list.items) { item in Text(item.title); ProgressView(value: item.fraction); Text(item.stateText) }
///     .task { await list.run() }
/// ```
///
/// Only a window of the list is held, so that a list of any length can be shown. It holds its manager; nothing holds it.
@MainActor @Observable
public final class DownloadList {
    /// The rows, in the order of the list.
    public private(set) var items: [DownloadItem] = []
    /// How many are listed in all.
    public private(set) var count = 0
    /// What went wrong when the list was read; `nil` when all was well.
    public private(set) var error: DownloadError?
    /// The rows that are held: from this number on…
    public var offset: Int { didSet { if offset != oldValue { invalidate() } } }
    /// …at most so many. Default 200.
    public var limit: Int { didSet { if limit != oldValue { invalidate() } } }

    @ObservationIgnored private let manager: DownloadManager
    @ObservationIgnored private var isStale = true
    /// Rings when there may be something to look at again and again.
    @ObservationIgnored private let updates = AsyncEvent()

    public init(_ manager: DownloadManager, offset: Int = 0, limit: Int = 200) {
        self.manager = manager
        self.offset = offset
        self.limit = limit
    }

    /// Keeps the list up to date until the task is cancelled or the manager shut down: ten times a second while
    /// something runs, and else when something changes.
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

    /// Reads the rows anew.
    public func reload() async {
        isStale = false
        do throws(DownloadError) {
            let downloads = try await manager.downloads(offset: offset, limit: limit)
            let known = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
            // One that was taken off the list and came back is another one.
            items = downloads.map { download in
                known[download.id].flatMap { $0.download == download ? $0 : nil } ?? DownloadItem(download)
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

    /// Something moves, or the window has.
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
