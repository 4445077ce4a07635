package import Ferry
package import FerryAPI
import FerryCore

/// The state of `ferry watch`: processes events and keys. Pure.
///
/// The cost of an event does not depend on the length of the list: counts and the set of running downloads are updated at
/// each event, and the rows are determined once per frame (``settle()``), from a small record of each download (`Mark`).
/// A further letter of a search requires only a comparison of names.
package struct WatchBoard: Sendable {
    /// A request to the daemon that results from a key.
    package enum Order: Sendable, Hashable {
        case pause(DownloadID)
        case resume(DownloadID)
        case cancel(DownloadID)
        case remove(DownloadID)
        case limit(ByteCount?)
        case quit
    }

    /// The downloads that are shown; `nil` for all.
    package var only: Set<DownloadID>? { didSet { recount() } }
    private var downloads: [DownloadID: Entry] = [:]
    /// The list, including identifiers of downloads that have left it since ``settle()``.
    private var order: [DownloadID] = []
    /// The number of shown downloads in each group.
    private var counted = Array(repeating: 0, count: Group.allCases.count)
    private var running: Set<DownloadID> = []
    /// The fields of every download that determine the rows. Entries are large, and reading one copies it.
    private var marks: [DownloadID: Mark] = [:]
    /// The rows without a search, as of ``settle()``; `nil` once an event may have changed the set of rows.
    private var unsearched: [(id: DownloadID, name: String)]?
    /// The rows; `nil` once an event or the search may have changed the set of rows.
    private var settled: [DownloadID]?
    /// The download that the user selected; it stays selected while it has a row.
    private var choice: DownloadID?
    /// Downloads that were removed while the list is being read, with the position in the daemon's log; `nil` at other times.
    private var gone: [DownloadID: UInt64]?
    /// The position in the daemon's log up to which the list is current.
    private var asOf: UInt64 = 0
    /// A key that deletes data and must be pressed again to confirm, and the download that it applies to.
    package struct Question: Sendable, Hashable {
        package let key: WatchKey
        package let id: DownloadID
    }
    private var asked: Question?
    /// Only downloads with this text in their names are shown.
    package private(set) var search = ""
    /// Whether a search has begun, even if it has no letter yet.
    package private(set) var isSearching = false
    /// The speed of all downloads of the session in the last event; `nil` before the first one.
    private var wholeSpeed: Double?
    /// The number of listed downloads; `nil` until the list, or the beginning of it, has been read.
    private var total: Int?
    /// The daemon's rate limit in bytes per second.
    package private(set) var limit: ByteCount?
    package var network = NetworkStatus(isOnline: true, isMetered: false, isConstrained: false)
    /// Whether the daemon does not respond.
    package var isLost = false
    /// Whether the list must be read again, for example because its order has changed.
    package private(set) var isStale = false
    /// Whether only the beginning of the list is known.
    package private(set) var isIncomplete = false

    package init() {}

    private struct Entry {
        var listed: ListedDownload
        var group: Group
        /// The position in the list.
        var place: Int
    }

    private struct Mark {
        var group: Group
        /// In lower case.
        var name: String
    }

    /// Downloads that are counted together. The first four groups have rows, in this order.
    private enum Group: Int, CaseIterable {
        case running, waiting, paused, failed, completed, cancelled

        init(_ state: DownloadState) {
            self =
                switch state {
                case .downloading, .verifying: .running
                case .waiting: .waiting
                case .paused: .paused
                case .failed: .failed
                case .completed: .completed
                case .cancelled: .cancelled
                }
        }

        var hasRows: Bool { self != .completed && self != .cancelled }
    }

    // MARK: Events

    /// Starts reading the list, until ``finishReading(_:asOf:)``.
    package mutating func beginReading() {
        isStale = false
        gone = [:]
    }

    /// Replaces the list with the items that were read since ``beginReading()``, except those for which an event was newer.
    /// If `items` is `nil`, the list could not be read, and must be read again.
    ///
    /// - Parameter position: The position in the daemon's log up to which the items are current.
    package mutating func finishReading(_ items: [ListedDownload]?, asOf position: UInt64) {
        // A snapshot has replaced the list meanwhile.
        guard let gone else { return }
        self.gone = nil
        guard let items else { return isStale = true }
        let isStale = isStale
        let known = downloads
        fill(
            items.filter { gone[$0.id] ?? 0 <= $0.asOf ?? 0 }.map { item in
                known[item.id].map { item.isOlder(than: $0.listed) ? $0.listed : item } ?? item
            }, asOf: position)
        let added = known.values.filter { $0.listed.asOf ?? 0 > position && downloads[$0.listed.id] == nil }
        for entry in added.sorted(by: { $0.place < $1.place }) { put(entry.listed) }
        self.isStale = isStale
    }

    /// Replaces the list.
    ///
    /// - Parameter position: The position in the daemon's log up to which the items are current.
    package mutating func fill(_ items: [ListedDownload], asOf position: UInt64 = 0) {
        (downloads, marks, order, asOf) = ([:], [:], [], position)
        (isIncomplete, total) = (false, items.count)
        for item in items { put(item) }
        recount()
        isStale = false
    }

    /// Processes an event of the stream.
    package mutating func take(_ event: StreamEvent) {
        switch event {
        case .state(let download):
            if let known = downloads[download.id]?.listed, download.isOlder(than: known) { break }
            put(download)
        case .progress(let batch, let speed):
            wholeSpeed = speed
            // Only for running downloads: the progress of a stopped download may be older than its state.
            for one in batch {
                let id = DownloadID(rawValue: one.id)
                if downloads[id]?.group == .running { downloads[id]?.listed.status.progress = one.progress }
            }
        case .removed(let ids, let position):
            for id in ids.map({ DownloadID(rawValue: $0) }) {
                gone?[id] = position
                guard let entry = downloads[id], entry.listed.asOf ?? 0 <= position else { continue }
                (downloads[id], marks[id]) = (nil, nil)
                count(entry, -1)
            }
            changeRows()
        case .order(let position): if position > asOf { isStale = true }
        case .settings(let settings): if settings.scope == "daemon" { limit = settings.rateLimit }
        case .network(let status): network = status
        case .reset(let snapshot):
            (gone, wholeSpeed) = (nil, nil)
            fill(snapshot.items, asOf: snapshot.asOf)
            (isIncomplete, total) = (snapshot.total > snapshot.items.count, snapshot.total)
            isStale = isIncomplete
            limit = snapshot.settings.rateLimit
            network = snapshot.network
        case .happened, .set, .ended, .upToDate: break
        }
    }

    private mutating func put(_ download: ListedDownload) {
        let group = Group(download.status.state)
        if let old = downloads[download.id] {
            downloads[download.id]?.listed = download
            guard old.group != group || old.listed.status.name != download.status.name else { return }
            downloads[download.id]?.group = group
            count(old, -1)
        } else {
            // A download that was removed and is added again must not be in the list twice.
            if order.count > downloads.count { order.removeAll { downloads[$0] == nil } }
            downloads[download.id] = Entry(
                listed: download, group: group, place: (order.last.flatMap { downloads[$0]?.place } ?? -1) + 1)
            order.append(download.id)
        }
        if let new = downloads[download.id] { count(new, 1) }
        marks[download.id] = Mark(group: group, name: download.status.name.lowercased())
        changeRows()
    }

    private mutating func changeRows() { (unsearched, settled) = (nil, nil) }

    private mutating func count(_ entry: Entry, _ change: Int) {
        guard only?.contains(entry.listed.id) ?? true else { return }
        counted[entry.group.rawValue] += change
        guard entry.group == .running else { return }
        if change > 0 { running.insert(entry.listed.id) } else { running.remove(entry.listed.id) }
    }

    private mutating func recount() {
        counted = Array(repeating: 0, count: Group.allCases.count)
        running = []
        for entry in downloads.values { count(entry, 1) }
        changeRows()
    }

    /// Determines the rows once for all events since the last call. Without this call, each access to the rows determines them.
    package mutating func settle() {
        if settled != nil { return }
        if unsearched == nil {
            order.removeAll { marks[$0] == nil }
            unsearched = allRows
        }
        let rows = rows
        if choice == nil || !hasRow(choice) { (choice, asked) = (rows.first, nil) }
        settled = rows
    }

    // MARK: Display

    package func download(_ id: DownloadID) -> ListedDownload? { downloads[id]?.listed }

    /// The running downloads that are shown, in the order of the list.
    package var runningDownloads: [ListedDownload] {
        running.compactMap { downloads[$0] }.sorted { $0.place < $1.place }.map(\.listed)
    }

    /// The downloads that match the search and are not completed or cancelled: running, waiting, paused, then failed
    /// ones, each in the order of the list.
    package var rows: [DownloadID] {
        if let settled { return settled }
        let (all, wanted) = (unsearched ?? allRows, search.lowercased())
        return all.compactMap { wanted.isEmpty || $0.name.utf8.contains(wanted) ? $0.id : nil }
    }

    private var allRows: [(id: DownloadID, name: String)] {
        var groups = Array(repeating: [(id: DownloadID, name: String)](), count: Group.allCases.count)
        for id in order {
            guard let mark = marks[id], mark.group.hasRows, only?.contains(id) ?? true else { continue }
            groups[mark.group.rawValue].append((id, mark.name))
        }
        return groups.flatMap { $0 }
    }

    private func hasRow(_ id: DownloadID?) -> Bool {
        guard let id, let mark = marks[id], mark.group.hasRows, only?.contains(id) ?? true else { return false }
        return search.isEmpty || mark.name.utf8.contains(search.lowercased())
    }

    /// The download that keys apply to: the selected one, or the first if the selected one no longer has a row.
    package var selected: DownloadID? { hasRow(choice) ? choice : rows.first }

    /// The question that waits for a second press, while its download is selected.
    package var question: Question? { asked?.id == selected ? asked : nil }

    /// The total speed in bytes per second.
    package var speed: Double {
        if only == nil, let wholeSpeed { return running.isEmpty ? 0 : wholeSpeed }
        return running.reduce(0) { sum, id in
            guard let status = downloads[id]?.listed.status, status.state == .downloading else { return sum }
            return sum + max(0, status.progress.bytesPerSecond)
        }
    }

    /// The number of downloads by state, without zeros: `2 running`, `1 waiting`. While only the beginning of the list is
    /// known, the counts would be too small, so this is the progress of reading it.
    package var counts: [String] {
        guard let total else { return [("reading the list" as Reason).local] }
        if isIncomplete { return [("reading the list: \(downloads.count) of \(total)" as Reason).local] }
        let texts: [Reason] = [
            "\(counted[0]) running", "\(counted[1]) waiting", "\(counted[2]) paused", "\(counted[3]) failed",
            "\(counted[4]) completed", "\(counted[5]) cancelled",
        ]
        let words = zip(counted, texts).filter { $0.0 > 0 }.map(\.1.local)
        return words.isEmpty ? [("no downloads" as Reason).local] : words
    }

    /// The number of elements at the end of ``counts`` that count downloads without rows.
    package var endedCounts: Int {
        Group.allCases.count { !$0.hasRows && counted[$0.rawValue] > 0 }
    }

    // MARK: Keys

    /// Handles a key. Returns the resulting order; `nil` if none is to be sent.
    package mutating func press(_ key: WatchKey) -> Order? {
        settle()
        let earlier = question
        asked = nil
        switch key {
        case .up: step(-1)
        case .down: step(1)
        case .pageUp: step(-Self.page)
        case .pageDown: step(Self.page)
        case .first: step(-order.count)
        case .last: step(order.count)
        case .search(let text):
            (search, isSearching) = (text ?? "", text != nil)
            settled = nil
        case .pause: return chosen(.pause).map { .pause($0) }
        case .resume: return chosen(.resume).map { .resume($0) }
        case .cancel, .remove:
            // Both delete the partial file, so they need a second press.
            guard let id = chosen(key == .cancel ? .cancel : .remove) else { return nil }
            let now = Question(key: key, id: id)
            if earlier == now { return key == .cancel ? .cancel(id) : .remove(id) }
            asked = now
        case .faster:
            guard limit != nil else { return nil }
            limit = LimitSteps.faster(than: limit)
            return .limit(limit)
        case .slower:
            limit = LimitSteps.slower(than: limit, speed: speed)
            return .limit(limit)
        case .quit: return .quit
        case .other: break
        }
        return nil
    }

    /// The number of rows that a page key moves.
    private static let page = 10

    private func chosen(_ action: DownloadAction) -> DownloadID? {
        guard let selected, let one = downloads[selected]?.listed, one.status.state.actions.contains(action) else {
            return nil
        }
        return selected
    }

    private mutating func step(_ distance: Int) {
        let rows = rows
        guard let index = selected.flatMap({ rows.firstIndex(of: $0) }) else { return }
        choice = rows[min(rows.count - 1, max(0, index + distance))]
    }
}

extension ListedDownload {
    /// Whether this state of a download is older than another.
    fileprivate func isOlder(than other: ListedDownload) -> Bool { self.asOf ?? 0 < other.asOf ?? 0 }
}

/// The steps of the rate limit for `+` and `-`. Pure.
package enum LimitSteps {
    /// In bytes per second, ascending. Beyond the last step there is no limit.
    static let steps: [ByteCount] = [
        100_000, 250_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000,
    ]

    /// Returns the next larger limit; `nil` for no limit.
    package static func faster(than limit: ByteCount?) -> ByteCount? {
        limit.flatMap { limit in steps.first { $0 > limit } }
    }

    /// Returns the next smaller limit; without a limit, the largest step below the current speed. A limit that is not above the
    /// smallest step stays as it is.
    package static func slower(than limit: ByteCount?, speed: Double) -> ByteCount {
        let bound = limit.map(Double.init) ?? (speed.isFinite && speed > 0 ? speed : .infinity)
        return steps.last { Double($0) < bound } ?? limit ?? steps[0]
    }
}
