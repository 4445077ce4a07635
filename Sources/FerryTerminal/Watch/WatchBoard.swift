package import Ferry
package import FerryAPI
import FerryCore

/// The state of `ferry watch`: processes events and keys. Pure.
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
    package var only: Set<DownloadID>?
    private var downloads: [DownloadID: ListedDownload] = [:]
    private var order: [DownloadID] = []
    /// The download that keys apply to.
    package private(set) var selected: DownloadID?
    /// The key that deletes data and must be pressed again, and its download.
    package struct Question: Sendable, Hashable {
        package let key: WatchKey
        package let id: DownloadID
    }
    package private(set) var question: Question?
    /// Only downloads with this text in their names are shown.
    package private(set) var search = ""
    /// The daemon's rate limit in bytes per second.
    package private(set) var limit: ByteCount?
    package var network = NetworkStatus(isOnline: true, isMetered: false, isConstrained: false)
    /// Whether the daemon does not respond.
    package var isLost = false
    /// Whether the list must be read again, as its order or more has changed.
    package private(set) var isStale = false

    package init() {}

    // MARK: Events

    /// Replaces the list.
    package mutating func fill(_ items: [ListedDownload]) {
        downloads = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
        order = items.map(\.id)
        isStale = false
        settle()
    }

    package mutating func take(_ event: StreamEvent) {
        switch event {
        case .state(let download):
            if downloads.updateValue(download, forKey: download.id) == nil { order.append(download.id) }
        case .progress(let batch):
            // Only for running downloads: the progress of a stopped one may be older than its state.
            for one in batch {
                let id = DownloadID(rawValue: one.id)
                if let state = downloads[id]?.status.state, Self.rank(state) == 0 {
                    downloads[id]?.status.progress = one.progress
                }
            }
        case .removed(let ids):
            let gone = Set(ids.map { DownloadID(rawValue: $0) })
            for id in gone { downloads[id] = nil }
            order.removeAll(where: gone.contains)
        case .order: isStale = true
        case .settings(let settings): if settings.scope == "daemon" { limit = settings.rateLimit }
        case .network(let status): network = status
        case .reset(let snapshot):
            fill(snapshot.items)
            isStale = snapshot.total > snapshot.items.count
            limit = snapshot.settings.rateLimit
            network = snapshot.network
        case .happened, .set, .ended, .upToDate: break
        }
        settle()
    }

    /// Selects the first row if the selected one is gone.
    private mutating func settle() {
        let rows = rows
        if let selected, rows.contains(where: { $0.id == selected }) { return }
        selected = rows.first?.id
        question = nil
    }

    // MARK: Display

    package func download(_ id: DownloadID) -> ListedDownload? { downloads[id] }

    /// All shown downloads in the order of the list.
    package var all: [ListedDownload] {
        order.compactMap { id in only?.contains(id) ?? true ? downloads[id] : nil }
    }

    /// The downloads that are searched for and not completed or cancelled: running, waiting, paused, then failed ones, each in the
    /// order of the list.
    package var rows: [ListedDownload] {
        let wanted = search.lowercased()
        let open = all.compactMap { one in
            wanted.isEmpty || one.status.name.lowercased().contains(wanted)
                ? Self.rank(one.status.state).map { (one, $0) } : nil
        }
        return (0..<4).flatMap { rank in open.filter { $0.1 == rank }.map(\.0) }
    }

    private static func rank(_ state: DownloadState) -> Int? {
        switch state {
        case .downloading, .verifying: 0
        case .waiting: 1
        case .paused: 2
        case .failed: 3
        case .completed, .cancelled: nil
        }
    }

    /// The total speed in bytes per second.
    package var speed: Double {
        all.reduce(0) { sum, one in
            one.status.state == .downloading ? sum + max(0, one.status.progress.bytesPerSecond) : sum
        }
    }

    /// The number of downloads by state, without zeros: `2 running, 1 waiting`.
    package var counts: String {
        var counts = Array(repeating: 0, count: 6)
        for one in all {
            let index =
                switch one.status.state {
                case .downloading, .verifying: 0
                case .waiting: 1
                case .paused: 2
                case .failed: 3
                case .completed: 4
                case .cancelled: 5
                }
            counts[index] += 1
        }
        let texts: [Reason] = [
            "\(counts[0]) running", "\(counts[1]) waiting", "\(counts[2]) paused", "\(counts[3]) failed",
            "\(counts[4]) completed", "\(counts[5]) cancelled",
        ]
        let words = zip(counts, texts).filter { $0.0 > 0 }.map(\.1.local)
        return words.isEmpty ? ("no downloads" as Reason).local : words.joined(separator: ", ")
    }

    // MARK: Keys

    /// Handles a key. Returns the resulting order; `nil` if none is to be sent.
    package mutating func press(_ key: WatchKey) -> Order? {
        let asked = question
        question = nil
        switch key {
        case .up: step(-1)
        case .down: step(1)
        case .pageUp: step(-Self.page)
        case .pageDown: step(Self.page)
        case .first: step(-order.count)
        case .last: step(order.count)
        case .search(let text):
            search = text
            settle()
        case .pause: return chosen(.pause).map { .pause($0) }
        case .resume: return chosen(.resume).map { .resume($0) }
        case .cancel, .remove:
            // Both delete the partial file, so they need a second press.
            guard let id = chosen(key == .cancel ? .cancel : .remove) else { return nil }
            let now = Question(key: key, id: id)
            if asked == now { return key == .cancel ? .cancel(id) : .remove(id) }
            question = now
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

    /// The rows of a page key.
    private static let page = 10

    private func chosen(_ action: DownloadAction) -> DownloadID? {
        guard let selected, let one = downloads[selected], one.status.state.actions.contains(action) else { return nil }
        return selected
    }

    private mutating func step(_ distance: Int) {
        let rows = rows
        guard let index = rows.firstIndex(where: { $0.id == selected }) else { return }
        selected = rows[min(rows.count - 1, max(0, index + distance))].id
    }
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

    /// Returns the next smaller limit; without a limit, the largest step below the current speed.
    package static func slower(than limit: ByteCount?, speed: Double) -> ByteCount {
        let bound = limit.map(Double.init) ?? (speed.isFinite && speed > 0 ? speed : .infinity)
        return steps.last { Double($0) < bound } ?? steps[0]
    }
}
